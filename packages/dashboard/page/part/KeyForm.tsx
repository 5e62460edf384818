import { useState } from "react"
import { Card } from "./Parts.tsx"
import * as Access from "../source/Access.ts"
import { Field, Form } from "./Form.tsx"

/** Asks for the API key of an admin. The page keeps it in memory and sends it only as a header. */
export const KeyForm = ({ refused }: { readonly refused: string | null }) => {
  const [typed, setTyped] = useState("")
  return (
    <>
      <h1 className="hidden">Populations</h1>
      <Card title="Enter a key">
        <Form
          label="Key"
          submit="Use the key"
          disabled={false}
          onSubmit={() => typed !== "" && Access.setKey(typed)}
          problem={refused}
        >
          <Field name="Key with the scope admin">
            <input
              type="password"
              autoComplete="off"
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
              aria-describedby="key-note"
            />
          </Field>
          <p id="key-note" className="muted small">
            The key stays in the memory of this page until you close or reload it.
          </p>
        </Form>
      </Card>
    </>
  )
}
