import type { Population } from "@inspo/serve/wire/Population"
import { useState } from "react"
import { Problem } from "../part/Parts.tsx"
import { onMember, useActing } from "./Acting.tsx"
import type { Node } from "./Nodes.ts"
import { textsOf, Wording } from "./Words.tsx"

/** An instruction's text, edited, becomes a new member; the old one stays. */
export const AddForm = ({ from, population }: { readonly population: Population; readonly from: Node }) => {
  const [opened, setOpened] = useState(false)
  const [texts, setTexts] = useState(() => textsOf(from.wording))
  const { act, busy, problem } = useActing()
  if (!opened)
    return (
      <button type="button" className="button" onClick={() => setOpened(true)}>
        Edit as a new member
      </button>
    )
  const only = texts.find(([name]) => name === null)?.[1]
  const wording = only ?? Object.fromEntries(texts.map(([name, text]) => [name ?? "", text]))
  const isUnchanged = JSON.stringify(wording) === JSON.stringify(from.wording)
  return (
    <form
      className="form asking"
      aria-label="Edit as a new member"
      onSubmit={(event) => {
        event.preventDefault()
        const payload = { action: "add" as const, wording, parent: from.id }
        act(onMember(population.name, payload), () => setOpened(false))
      }}
    >
      {texts.map(([name, text], index) => (
        <label key={name ?? ""} className="field">
          <span dir="auto">{name ?? `Text, beginning with that of ${from.id}`}</span>
          <textarea
            dir="auto"
            rows={6}
            required
            value={text}
            onChange={({ target }) =>
              setTexts(texts.map((one, place) => (place === index ? ([name, target.value] as const) : one)))
            }
          />
        </label>
      ))}
      {!isUnchanged && <Wording from={from.wording} to={wording} />}
      <p className="buttons">
        <button type="submit" className="button primary" disabled={busy || isUnchanged}>
          Add as a new member
        </button>
        <button type="button" className="button" onClick={() => setOpened(false)}>
          Leave it
        </button>
      </p>
      {problem !== null && <Problem>{problem}</Problem>}
    </form>
  )
}
