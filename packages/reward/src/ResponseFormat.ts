import { Schema } from "effect"
import { PythonText } from "@inspo/domain"

const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

/**
 * What the form of a response is worth, each in [0, 1]: `structure` for well-formed turns, `retrieval` on top when a
 * golden answer was among the observations of well-formed turns, and `final` for an answer that is wrong in a response
 * that is not well-formed.
 */
export const FormatScores = Schema.Struct({
  structure: Share.annotate({ description: "What well-formed turns are worth" }),
  retrieval: Share.annotate({ description: "Added when well-formed turns retrieved a golden answer" }),
  final: Share.annotate({ description: "What a wrong answer in malformed turns is worth" })
})
  // Before the check, which JSON Schema knows nothing of.
  .annotate({ description: "What the form of a response is worth to `em-format`" })
  .check(
    Schema.makeFilter(({ final, retrieval, structure }) => structure + retrieval <= 1 && final <= 1 - structure, {
      expected: "structure + retrieval at most 1, and final at most 1 - structure"
    })
  )
export interface FormatScores extends Schema.Schema.Type<typeof FormatScores> {}

/** The scores of Search-R1's GRPO script, version 0.3. */
export const defaultScores: FormatScores = { structure: 0.2, retrieval: 0, final: 0.1 }

/** What {@link score} judges: the answer's correctness is null when there is no answer. */
export interface Form {
  readonly isCorrect: boolean | null
  readonly isWellFormed: boolean
  readonly isRetrieved: boolean
}

/**
 * The format-aware exact match of Search-R1 (`qa_em_format`): a right answer earns 1, less `structure` in a response
 * that is not well-formed; anything else earns what its form is worth.
 */
export const score = ({ isCorrect, isRetrieved, isWellFormed }: Form, scores: FormatScores): number => {
  if (isCorrect === true) return isWellFormed ? 1 : 1 - scores.structure
  if (isWellFormed) return isRetrieved ? scores.structure + scores.retrieval : scores.structure
  return isCorrect === null ? 0 : scores.final
}

/**
 * Whether a response is `<think>`, then any number of `<search>`, `<information>`, `<think>`, then `<answer>`, each
 * closed before the next opens, with nothing but white space between and after them.
 */
export const isWellFormed = (response: string): boolean => {
  let state: State = "start"
  for (const part of response.split(tag)) {
    if (PythonText.strip(part) === "") continue
    const next: State | undefined = isTag(part) ? transitions[state][part] : holdsContent.has(state) ? state : undefined
    if (next === undefined) return false
    state = next
  }
  return state === "end"
}

type State =
  | "start"
  | "thinking"
  | "thought"
  | "searching"
  | "searched"
  | "observing"
  | "observed"
  | "answering"
  | "end"

const transitions: Readonly<Record<State, Readonly<Record<string, State>>>> = {
  start: { "<think>": "thinking" },
  thinking: { "</think>": "thought" },
  thought: { "<search>": "searching", "<answer>": "answering" },
  searching: { "</search>": "searched" },
  searched: { "<information>": "observing" },
  observing: { "</information>": "observed" },
  observed: { "<think>": "thinking" },
  answering: { "</answer>": "end" },
  end: {}
}

const holdsContent: ReadonlySet<State> = new Set(["thinking", "searching", "observing", "answering"])

const tag = /(<\/?(?:think|search|information|answer)>)/u

const isTag = (part: string): boolean => tag.test(part)
