import { type RefObject, useEffect, useRef } from "react"

/** Scrolls an element into view within its list if `isWanted`, without scrolling the page. */
export const useScrollInto = <E extends HTMLElement>(isWanted: boolean): RefObject<E | null> => {
  const ref = useRef<E>(null)
  useEffect(() => {
    const element = ref.current
    const list = element?.closest(".scroll-list")
    if (!isWanted || element === null || !(list instanceof HTMLElement)) return
    const own = element.getBoundingClientRect()
    const around = list.getBoundingClientRect()
    if (own.top < around.top) list.scrollTop -= around.top - own.top
    else if (own.bottom > around.bottom) list.scrollTop += own.bottom - around.bottom
  }, [isWanted])
  return ref
}
