/** Light or dark: what the user chose last, else what the system says. */
import { useSyncExternalStore } from "react"

export type Theme = "light" | "dark"

const key = "inspo-theme"
const system = window.matchMedia("(prefers-color-scheme: dark)")
const listeners = new Set<() => void>()

export const theme = (): Theme => {
  const chosen = localStorage.getItem(key)
  return chosen === "light" || chosen === "dark" ? chosen : system.matches ? "dark" : "light"
}

export const applyTheme = (): void => {
  document.documentElement.dataset["theme"] = theme()
  for (const listener of listeners) listener()
}

export const toggleTheme = (): void => {
  localStorage.setItem(key, theme() === "dark" ? "light" : "dark")
  applyTheme()
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, theme)

/** What a CSS colour is in the present theme, for drawing on a canvas. */
export const resolveColour = (colour: string): string => {
  const name = `${theme()} ${colour}`
  const known = resolved.get(name) ?? probe(colour)
  resolved.set(name, known)
  return known
}

/** Asking the browser makes it lay out the page, so that each colour is asked for once. */
const resolved = new Map<string, string>()

const probe = (colour: string): string => {
  const element = document.createElement("span")
  element.style.color = colour
  document.body.append(element)
  const { color } = getComputedStyle(element)
  element.remove()
  return color
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

system.addEventListener("change", applyTheme)
