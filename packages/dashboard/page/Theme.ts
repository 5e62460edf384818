/** Light or dark: the user's last choice, else the system's setting. */
import { makeStore } from "./Store.ts"

export type Theme = "light" | "dark"

const key = "inspo-theme"
const system = window.matchMedia("(prefers-color-scheme: dark)")

const chosen = (): Theme => {
  const stored = localStorage.getItem(key)
  return stored === "light" || stored === "dark" ? stored : system.matches ? "dark" : "light"
}

const store = makeStore(chosen())

export const useTheme = store.use

export const applyTheme = (): void => {
  document.documentElement.dataset["theme"] = chosen()
  store.set(chosen())
}

export const toggleTheme = (): void => {
  localStorage.setItem(key, store.get() === "dark" ? "light" : "dark")
  applyTheme()
}

system.addEventListener("change", applyTheme)
