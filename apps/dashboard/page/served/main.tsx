import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { applyTheme } from "../Theme.ts"
import { App } from "./App.tsx"
import "../styles.css"

applyTheme()
const root = document.getElementById("page")
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>
  )
