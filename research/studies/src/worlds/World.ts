/**
 * Worlds with one dial each. An answer is one or two words; what a word is worth is the same in all worlds. A world says how likely the
 * words are at first, and what each piece of advice adds to their logits.
 */
import { Question, RandomStream } from "@inspo/domain"
import { ClauseBank } from "@inspo/reflection"
import { Array as Arr } from "effect"

/** The words that a policy writes: those that end an answer, and the one that a second word follows. */
export const words = [
  "<answer>plain</answer>",
  "<answer>nothing</answer>",
  "<answer>crutch</answer>",
  "<answer>skill</answer>",
  "<answer>second</answer>",
  "<answer>usual</answer>",
  "<answer>prepare ",
  "finish</answer>",
  "rest</answer>"
] as const
export type Word = (typeof words)[number]

/** What comes before a word: nothing, or the word that a second one follows. */
export type Place = "start" | "prepared"

type Logits = Partial<Record<Word, number>>

export interface World {
  /** The first logits of each place; a word that is not named cannot be written there. */
  readonly base: Readonly<Record<Place, Logits>>
  /** What each piece of advice adds. */
  readonly advice: Readonly<Record<string, Partial<Readonly<Record<Place, Logits>>>>>
  /** The share of what is learned that stays with the advice in the prompt. */
  readonly bound: number
}

export const seedInstruction = "Answer the case. Put the answer between <answer> and </answer>."

const useful = "Follow the guide."
const idle = ["Take a breath.", "Be polite.", "Be an expert."]
const harmful = "Write nothing."

/** The advice of every world: one piece decides, three do nothing, one is harmful. */
export const clauses: ReadonlyArray<ClauseBank.Clause> = ClauseBank.ofSentences([useful, ...idle, harmful])

const prepared: Logits = { "finish</answer>": -2, "rest</answer>": 0 }

/** A world whose useful advice does this. */
const world = (start: Logits, advice: World["advice"][string], bound = 0.5): World => ({
  base: { start, prepared },
  advice: { [useful]: advice, [harmful]: { start: { "<answer>nothing</answer>": 4 } } },
  bound
})

/** The logit of a word beside others whose weights have this sum, for a probability. */
const logit = (probability: number, others: number): number => Math.log((probability / (1 - probability)) * others)

/** Each world by its dial. */
export const worlds = {
  crutch: (dial: number) =>
    world(
      {
        "<answer>plain</answer>": 3,
        "<answer>nothing</answer>": 2,
        "<answer>crutch</answer>": -1,
        "<answer>skill</answer>": -1,
        "<answer>second</answer>": -1
      },
      { start: { "<answer>crutch</answer>": 5, "<answer>skill</answer>": -dial } }
    ),
  key: (dial: number) =>
    world(
      { "<answer>usual</answer>": 2, "<answer>nothing</answer>": 0, "<answer>prepare ": 0 },
      { start: { "<answer>nothing</answer>": 2 }, prepared: { "finish</answer>": dial } }
    ),
  rare: (dial: number) =>
    world(
      {
        "<answer>nothing</answer>": 0,
        "<answer>skill</answer>": logit(0.1 * 10 ** (-dial / 2), 1)
      },
      { start: { "<answer>skill</answer>": 3 } }
    ),
  forget: (dial: number) =>
    world(
      { "<answer>plain</answer>": 2, "<answer>nothing</answer>": 1, "<answer>skill</answer>": -1 },
      { start: { "<answer>skill</answer>": 2 } },
      dial / 4
    )
} as const satisfies Readonly<Record<string, (dial: number) => World>>

export type Name = keyof typeof worlds

export const names = ["crutch", "key", "rare", "forget"] as const

/** The values of the dial. */
export const dials = [0, 1, 2, 3, 4] as const

/** How a config names a world, in the place of a model, with the policy to begin with, if any. */
export const modelOf = (name: Name, dial: number, policy: string | null = null): string =>
  `world:${name}:${dial}${policy === null ? "" : `:${policy}`}`

/** The world that a config names; null where it names another model. */
export const ofModel = (model: string | null): { readonly world: World; readonly policy: string | null } | null => {
  const [prefix, name = "", dial = "", ...policy] = (model ?? "").split(":")
  const known = names.find((one) => one === name)
  return prefix !== "world" || known === undefined
    ? null
    : { world: worlds[known](Number(dial)), policy: policy.length === 0 ? null : policy.join(":") }
}

/** The expected reward of each answer in the first and in the second task. */
const worth: ReadonlyArray<readonly [answer: string, first: number, second: number]> = [
  ["plain", 0.05, 0.05],
  ["crutch", 0.5, 0],
  ["skill", 1, 0],
  ["second", 0, 1],
  ["usual", 0.3, 0],
  ["prepare rest", 0.35, 0],
  ["prepare finish", 1, 0]
]

/** Every question rewards the answers that are worth more than its own difficulty. Each second question is of the second task. */
export const questions = (count: number): ReadonlyArray<Question.Question> =>
  Arr.makeBy(count, (index) => {
    const isSecond = index % 2 === 1
    const difficulty = RandomStream.make(1, ["worlds", index]).next()
    const golden = worth.flatMap(([answer, first, second]) =>
      (isSecond ? second : first) > difficulty ? [answer] : []
    )
    // A question needs an answer; the first is never written.
    const goldenAnswers = ["none", ...golden] as const
    return {
      id: Question.QuestionId.make(`case/${index}`),
      question: `Case ${index}.`,
      goldenAnswers,
      dataSource: isSecond ? "second-task" : "first-task"
    }
  })
