import { useState } from "react"
import type { Instruction } from "@inspo/domain"
import { Text } from "@inspo/report"
import { Diff } from "./Diff.tsx"
import { useLabels } from "./Names.tsx"

interface WordingProps {
  readonly from?: Instruction.Content | undefined
  readonly to: Instruction.Content
}

/** The text of an instruction; with `from`, its changes to another one. */
export const Wording = ({ from, to }: WordingProps) => {
  const earlier = new Map(from === undefined ? [] : Text.textsOf(from))
  return Text.textsOf(to).map(([name, text]) => (
    <div key={name ?? ""} className="wording">
      {name !== null && (
        <h3 dir="auto" className="mono">
          {name}
        </h3>
      )}
      {from === undefined ? (
        <p className="prose" dir="auto">
          {text}
        </p>
      ) : (
        <Diff from={earlier.get(name) ?? ""} to={text} />
      )}
    </div>
  ))
}

interface WordingChoiceProps {
  readonly wording: Instruction.Content
  readonly parent: { readonly id: string | null; readonly wording: Instruction.Content } | undefined
  readonly rationale: string | null | undefined
}

/** The text of an instruction, alone or as changes to its parent, and the proposer's reason for it. */
export const WordingChoice = ({ parent, rationale, wording }: WordingChoiceProps) => {
  const [isPlain, setPlain] = useState(false)
  const label = useLabels()
  return (
    <>
      {parent !== undefined && (
        <div className="segmented" role="group" aria-label="How to show the text">
          <button type="button" aria-pressed={!isPlain} onClick={() => setPlain(false)}>
            Changes to {parent.id === null ? null : label(parent.id)}
          </button>
          <button type="button" aria-pressed={isPlain} onClick={() => setPlain(true)}>
            Text only
          </button>
        </div>
      )}
      <Wording from={isPlain ? undefined : parent?.wording} to={wording} />
      <Rationale text={rationale} />
    </>
  )
}

/** The reason that a proposer gave for a text. */
export const Rationale = ({ text }: { readonly text: string | null | undefined }) =>
  text === null || text === undefined || text === "" ? null : (
    <p className="rationale" dir="auto">
      <span className="muted">Proposer's reason: </span>
      {text}
    </p>
  )
