import type { ReactNode } from "react"
import { toggleTheme, useTheme } from "../Theme.ts"

/** Whether the server can be heard, light or dark, and whatever else a page has at its upper end. */
export const TopRight = ({
  children,
  connected,
  onHelp
}: {
  readonly connected: boolean
  readonly onHelp?: () => void
  readonly children?: ReactNode
}) => {
  const theme = useTheme()
  return (
    <span className="top-right">
      {!connected && (
        <span className="offline" role="status">
          Connection lost, trying again …
        </span>
      )}
      {children}
      <button type="button" onClick={toggleTheme} title="Light or dark (t)" aria-label="Switch between light and dark">
        {theme === "dark" ? "☀" : "☾"}
      </button>
      {onHelp !== undefined && (
        <button type="button" onClick={onHelp} title="Keys (?)" aria-label="Keyboard shortcuts">
          ?
        </button>
      )}
    </span>
  )
}
