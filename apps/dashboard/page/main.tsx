import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { App } from "./App.tsx"
import { applyTheme } from "./Theme.ts"
import "uplot/dist/uPlot.min.css"
import "./styles.css"

applyTheme()
const root = document.getElementById("page")
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>
  )
