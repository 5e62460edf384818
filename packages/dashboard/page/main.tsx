import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { lazily } from "./part/Lazily.tsx"
import { applyTheme } from "./Theme.ts"
import "./styles.css"

const runs = lazily(() => import("./source/Runs.tsx").then(({ Runs }) => Runs))
const populations = lazily(() => import("./source/Populations.tsx").then(({ Populations }) => Populations))

/** What the server of the page has: runs and searches, or populations. */
const Source = document.body.dataset["source"] === "populations" ? populations : runs

applyTheme()
const root = document.getElementById("page")
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <Source />
    </StrictMode>
  )
