import { Array as Arr, Option, Order, Schema } from "effect"
import * as Evidence from "../Evidence.ts"
import type { LearnerKind, LearnRequest } from "../Learner.ts"

/**
 * The proposer keeps lessons. Before a proposal, the language model compares two instructions, of which one did better, and edits
 * the lessons. Where no candidate differed from its parent there is nothing to compare, and they stay.
 */
export const lessons = {
  name: "lessons",
  description: "sees what `reflection` sees, and lessons that it edits by comparing a candidate with its parent",
  formula: "lessons := add, edit, merge, drop by the pair of the largest |gain|; at most k",
  source: "Empirical-MCTS, arXiv 2602.04248",
  certainty: "part",
  defaults: { lessons: 12 },
  parameters: { lessons: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })) },
  of: ({ lessons: most }) => ({
    learn: (request, standard) => {
      const before = Option.getOrElse(decode(request.notebook?.notes), () => ({ lessons: [], parent: "" })).lessons
      const pair = pairOf(request)
      return {
        question: pair === null ? null : question(before, pair, most),
        read: (answer) => {
          const after = pair === null || answer === null ? before : edited(before, answer, most)
          return { method: withLessons(standard, after), notes: { lessons: after, parent: request.parent.text } }
        }
      }
    }
  })
} as const satisfies LearnerKind<"lessons", { readonly lessons: number }>

/** `parent` is the instruction that the last proposal revised. */
const Notes = Schema.Struct({ lessons: Schema.Array(Schema.String), parent: Schema.String })

const decode = Schema.decodeUnknownOption(Notes)

interface Pair {
  readonly better: string
  readonly worse: string
}

/** The candidate that differed most from its parent. Of several texts a whole instruction is not compared with a part. */
const pairOf = ({ name, notebook }: LearnRequest): Pair | null => {
  const parent = Option.getOrNull(decode(notebook?.notes))?.parent
  const [first] = Arr.sortWith(notebook?.outcomes ?? [], ({ gain }) => Math.abs(gain), Order.flip(Order.Number))
  if (parent === undefined || name !== undefined || first === undefined || first.gain === 0) return null
  return first.gain > 0 ? { better: first.text, worse: parent } : { better: parent, worse: first.text }
}

/** The lessons after the edits of an answer. Numbers are those of the lessons before it; other lines change nothing. */
const edited = (before: ReadonlyArray<string>, answer: string, most: number): ReadonlyArray<string> => {
  const texts = new Map(before.map((text, index) => [index + 1, text]))
  const added: Array<string> = []
  for (const line of answer.split("\n")) {
    const [, verb = "", named = "", , text = ""] = edit.exec(line.trim()) ?? []
    const numbers = named
      .split(/[\s,]+/u)
      .filter((number) => number !== "")
      .map(Number)
    const [first, ...others] = numbers
    if (numbers.some((number) => !texts.has(number))) continue
    const lesson = Evidence.withoutPromptTags(text.trim()).slice(0, longest)
    if (verb === "ADD" && first === undefined && lesson !== "") added.push(lesson)
    if (verb === "DROP" && text === "") for (const number of numbers) texts.delete(number)
    if ((verb === "EDIT" || verb === "MERGE") && first !== undefined && lesson !== "") {
      texts.set(first, lesson)
      for (const number of others) if (number !== first) texts.delete(number)
    }
  }
  return Arr.takeRight(Arr.dedupe([...texts.values(), ...added]), most)
}

const edit = /^[-*]?\s*(ADD|EDIT|MERGE|DROP)((?:[\s,]+\d+)*)\s*(:\s*(.*))?$/u

/** Most characters of a lesson. */
const longest = 300

const withLessons = (standard: string, known: ReadonlyArray<string>): string =>
  known.length === 0
    ? standard
    : [standard, "", "Comparisons of earlier instructions taught this:", ...known.map((lesson) => `- ${lesson}`)].join(
        "\n"
      )

const question = (known: ReadonlyArray<string>, { better, worse }: Pair, most: number): string =>
  [
    "Two instructions of an agent were tried on the same task. This one did better:",
    `<ins_1>\n${Evidence.withoutPromptTags(better)}\n</ins_1>`,
    "This one did worse:",
    `<ins_2>\n${Evidence.withoutPromptTags(worse)}\n</ins_2>`,
    "",
    known.length === 0 ? "No lessons are known yet." : "These lessons are known about how to write such instructions:",
    ...known.map((lesson, index) => `${index + 1}. ${lesson}`),
    "",
    `Say what the two teach, as edits of the lessons, of which there are at most ${most}. Lessons are general: they name no question`,
    `and no answer, and have at most ${longest / 10} words. Write one edit a line, in one of these forms, and nothing else:`,
    "ADD: a new lesson",
    "EDIT 2: the second lesson in better words",
    "MERGE 1 3: the first and the third as one lesson",
    "DROP 4"
  ].join("\n")
