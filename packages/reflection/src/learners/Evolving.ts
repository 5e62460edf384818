import { Option, Schema } from "effect"
import * as CandidateParser from "../CandidateParser.ts"
import * as Evidence from "../Evidence.ts"
import type { LearnerKind } from "../Learner.ts"
import type { Notebook } from "../Proposer.ts"

/**
 * The method of the proposer evolves. A challenger, which the language model writes, and the method in use make equally many
 * proposals, in turn. The challenger takes its place if its proposals gained more in sum, so the first method stays unless beaten.
 */
export const evolving = {
  name: "evolving",
  description: "sees what `reflection` sees, and its own prompt evolves by the gain of its proposals",
  formula:
    "prompt := challenger if its Σ gain over k proposals > Σ gain of the prompt over k; gain = max(0, best difference to the parent)",
  source: "Meta-TTL",
  certainty: "part",
  defaults: { proposals: 2 },
  parameters: { proposals: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })) },
  of: ({ proposals }) => ({
    learn: ({ notebook }, standard) => {
      const notes = decided(credited(notesOf(notebook), notebook), proposals)
      const isOpen = notes.challenger === null && notes.incumbent.proposals > 0
      return {
        question: isOpen ? question(notes.incumbent.method ?? standard, notebook?.outcomes ?? []) : null,
        read: (answer) => {
          const method = answer === null ? null : methodIn(answer)
          const next = isOpen && method !== null && method !== notes.incumbent.method ? contest(notes, method) : notes
          const writer = writerOf(next)
          return { method: next[writer]?.method ?? standard, notes: { ...next, writer } }
        }
      }
    }
  })
} as const satisfies LearnerKind<"evolving", { readonly proposals: number }>

/** A method, null for the standard one, and what its proposals gained in this contest. */
const Entry = Schema.Struct({ method: Schema.NullOr(Schema.String), gain: Schema.Finite, proposals: Schema.Natural })

/** `writer` made the last proposal. */
const Notes = Schema.Struct({
  incumbent: Entry,
  challenger: Schema.NullOr(Entry),
  writer: Schema.Literals(["incumbent", "challenger"])
})
type Notes = typeof Notes.Type

const decode = Schema.decodeUnknownOption(Notes)

/** The notes of the last proposal; a first proposal, and notes of another form, begin with the standard method. */
const notesOf = (notebook: Notebook | undefined): Notes =>
  Option.getOrElse(decode(notebook?.notes), () => ({
    incumbent: fresh(null),
    challenger: null,
    writer: "incumbent" as const
  }))

const fresh = (method: string | null): Notes["incumbent"] => ({ method, gain: 0, proposals: 0 })

/** Candidates that are worse than their parent do not stay, so a proposal gains at least 0. */
const credited = (notes: Notes, notebook: Notebook | undefined): Notes => {
  const entry = notes[notes.writer]
  if (notebook === undefined || entry === null) return notes
  const gain = Math.max(0, ...notebook.outcomes.map((outcome) => outcome.gain))
  return { ...notes, [notes.writer]: { ...entry, gain: entry.gain + gain, proposals: entry.proposals + 1 } }
}

const decided = (notes: Notes, proposals: number): Notes => {
  const { challenger, incumbent } = notes
  if (challenger === null || Math.min(challenger.proposals, incumbent.proposals) < proposals) return notes
  return { incumbent: challenger.gain > incumbent.gain ? challenger : incumbent, challenger: null, writer: "incumbent" }
}

const contest = ({ incumbent, writer }: Notes, method: string): Notes => ({
  incumbent: fresh(incumbent.method),
  challenger: fresh(method),
  writer
})

/** In the order A B B A, since gains fall as instructions improve. */
const writerOf = ({ challenger, incumbent, writer }: Notes): Notes["writer"] => {
  if (challenger === null) return "incumbent"
  if (challenger.proposals === incumbent.proposals) return writer
  return challenger.proposals < incumbent.proposals ? "challenger" : "incumbent"
}

/** Longer methods crowd out the evidence. */
const longest = 2000

const methodIn = (answer: string): string | null => {
  const text = CandidateParser.parse(answer).texts[0]?.trim() ?? ""
  return text === "" || text.length > longest ? null : Evidence.withoutPromptTags(text)
}

const question = (method: string, outcomes: Notebook["outcomes"]): string =>
  [
    "A language model improves the instruction of an agent. It reads the instruction and records of the agent's work, and this text on",
    "how to find what to change:",
    `<ins_0>\n${Evidence.withoutPromptTags(method)}\n</ins_0>`,
    "",
    ...(outcomes.length === 0
      ? ["None of the instructions that it wrote last could be used."]
      : [
          "It last wrote these instructions. Each begins with how many points of 100 it was better than the one before it:",
          ...outcomes.map(({ gain, text }) => `- ${Math.round(100 * gain)}: ${JSON.stringify(text)}`)
        ]),
    "",
    "Write another way to find what to change, which should lead to better instructions. It must be of use for any task: name no",
    `question and no answer. Write at most ${longest / 10} words, between <ins_1> and </ins_1>, and nothing else within them.`
  ].join("\n")
