/** When to send requests again: every two seconds while the page is visible, and at once after an action. */
import { makeStore } from "../Store.ts"

const ticks = makeStore(0)

/** A text that changes when the page should load its data again. */
export const usePolling = (): string => String(ticks.use())

export const reload = (): void => ticks.set(ticks.get() + 1)

/** Milliseconds. */
const interval = 2000

const reloadIfVisible = () => document.visibilityState === "visible" && reload()

window.setInterval(reloadIfVisible, interval)
document.addEventListener("visibilitychange", reloadIfVisible)
