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

/** The value of a CSS colour in the present theme, for drawing on a canvas. */
export const resolveColour = (colour: string): string => {
  const name = `${store.get()} ${colour}`
  const known = resolved.get(name) ?? probe(colour)
  resolved.set(name, known)
  return known
}

/** Reading a colour makes the browser lay out the page, so each colour is read once. */
const resolved = new Map<string, string>()

const probe = (colour: string): string => {
  const element = document.createElement("span")
  element.style.color = colour
  document.body.append(element)
  const { color } = getComputedStyle(element)
  element.remove()
  return color
}

system.addEventListener("change", applyTheme)
