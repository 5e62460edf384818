import type { Population } from "@inspo/serve"
import { Text } from "@inspo/report"
import { useState } from "react"
import { Wording } from "./Wording.tsx"
import { ActionForm, onMember } from "./Action.tsx"
import type { Node } from "../source/InstructionTree.ts"
import { Field } from "./Form.tsx"

/** Adds an edited copy of an instruction as a new member. */
export const AddForm = ({ from, population }: { readonly population: Population.Population; readonly from: Node }) => {
  const [texts, setTexts] = useState(() => Text.textsOf(from.wording))
  const only = texts.find(([name]) => name === null)?.[1]
  const wording = only ?? Object.fromEntries(texts.map(([name, text]) => [name ?? "", text]))
  const isUnchanged = JSON.stringify(wording) === JSON.stringify(from.wording)
  return (
    <ActionForm
      label="Edit as a new member"
      submit="Add as a new member"
      disabled={isUnchanged}
      request={onMember(population.name, { action: "add", wording, parent: from.id })}
    >
      {texts.map(([name, text], index) => (
        <Field key={name ?? ""} name={name ?? `Text, initially that of ${from.id}`}>
          <textarea
            dir="auto"
            rows={6}
            required
            value={text}
            onChange={({ target }) =>
              setTexts(texts.map((one, place) => (place === index ? ([name, target.value] as const) : one)))
            }
          />
        </Field>
      ))}
      {!isUnchanged && <Wording from={from.wording} to={wording} />}
    </ActionForm>
  )
}
