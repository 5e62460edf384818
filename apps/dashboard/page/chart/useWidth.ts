import { type RefObject, useLayoutEffect, useRef, useState } from "react"

/** The present width of an element in pixels, and the size of its text as a factor of 16 pixels. */
export const useWidth = (): readonly [ref: RefObject<HTMLDivElement | null>, width: number, scale: number] => {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.round(entry.contentRect.width))
    })
    setWidth(Math.round(element.getBoundingClientRect().width))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [ref, width, Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16]
}
