import { useState } from "react"
import { Card, Problem } from "../part/Parts.tsx"
import * as Access from "./Access.ts"

/** Asks for the admin's key. It stays in the memory of this page, and is sent as a header alone. */
export const KeyForm = ({ refused }: { readonly refused: string | null }) => {
  const [typed, setTyped] = useState("")
  return (
    <Card title="A key, please">
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (typed !== "") Access.giveKey(typed)
        }}
      >
        {refused !== null && <Problem>{refused}</Problem>}
        <label className="field">
          <span>Key of the scope admin</span>
          <input
            type="password"
            autoComplete="off"
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
            aria-describedby="key-note"
          />
        </label>
        <p id="key-note" className="muted small">
          It is kept until this page is closed or loaded again, and nowhere else.
        </p>
        <p>
          <button type="submit" className="button primary">
            Use it
          </button>
        </p>
      </form>
    </Card>
  )
}
