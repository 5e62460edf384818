import { useState } from "react"
import { Card, Problem } from "./Parts.tsx"
import * as Access from "../source/Access.ts"

/** Asks for the API key of an admin. The page keeps it in memory and sends it only as a header. */
export const KeyForm = ({ refused }: { readonly refused: string | null }) => {
  const [typed, setTyped] = useState("")
  return (
    <>
      <h1 className="hidden">Populations</h1>
      <Card title="Enter a key">
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault()
            if (typed !== "") Access.setKey(typed)
          }}
        >
          {refused !== null && <Problem>{refused}</Problem>}
          <label className="field">
            <span>Key with the scope admin</span>
            <input
              type="password"
              autoComplete="off"
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
              aria-describedby="key-note"
            />
          </label>
          <p id="key-note" className="muted small">
            The key stays in the memory of this page until you close or reload it.
          </p>
          <p>
            <button type="submit" className="button primary">
              Use the key
            </button>
          </p>
        </form>
      </Card>
    </>
  )
}
