/** When to ask again: every two seconds while the page is looked at, and at once after something was done. */
import { useSyncExternalStore } from "react"

/** A text that changes when there may be news. */
export const useNews = (): string => useSyncExternalStore(subscribe, () => String(tick))

export const lookAgain = (): void => {
  tick++
  for (const listener of listeners) listener()
}

/** Milliseconds. */
const interval = 2000

let tick = 0
const listeners = new Set<() => void>()

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

window.setInterval(() => document.visibilityState === "visible" && lookAgain(), interval)
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && lookAgain())
