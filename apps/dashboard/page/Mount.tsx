import { type ReactNode, StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { applyTheme } from "./Theme.ts"
import "./styles.css"

/** Renders a page. */
export const mount = (page: ReactNode): void => {
  applyTheme()
  const root = document.getElementById("page")
  if (root !== null) createRoot(root).render(<StrictMode>{page}</StrictMode>)
}
