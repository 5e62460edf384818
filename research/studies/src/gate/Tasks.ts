import { fileURLToPath } from "node:url"
import type { RunConfig } from "@inspo/config"
import { Question, RandomStream } from "@inspo/domain"

/** A task that a small model can do, and instructions for it. */
export interface Task {
  readonly name: string
  readonly asks: string
  /** Hand-written; the first is plain, each other one adds advice. */
  readonly instructions: readonly [string, string, ...ReadonlyArray<string>]
  /** Sentences for evolved instructions of the task: useful, useless and harmful ones. */
  readonly sentences: ReadonlyArray<string>
  /** The name of the measure of an answer, see `score.ts`. */
  readonly measure: string
  /** The most tokens of an answer. */
  readonly tokens: number
  /** Generates questions of a seed. */
  readonly questions: (count: number, seed: number) => ReadonlyArray<Question.Question>
}

/** The settings with the agent and the reward of a task: one turn without tags, which small models seldom write. */
export const configure = ({ measure, tokens }: Task, config: RunConfig): RunConfig => ({
  ...config,
  rollout: {
    ...config.rollout,
    agent: { name: "direct" },
    maxResponseTokens: tokens,
    maxPromptTokens: Math.max(config.rollout.maxPromptTokens, longestPrompt),
    texts: { ...config.rollout.texts, prompt: "{instruction}\n\n{question}" },
    scoredTurns: "all"
  },
  reward: { ...config.reward, kind: { name: "command", command: scoring(measure) } }
})

/** The command that rewards answers. */
export const scoring = (measure: string): readonly [string, ...ReadonlyArray<string>] => [
  process.execPath,
  program,
  measure
]

/** The longest prompt of any task, also of those of other versions, since it is a setting of each run. */
const longestPrompt = 2400

const program = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "score.ts" : "score.js", import.meta.url))

/** Advice that is useless for every task. */
const idle = [
  "You are an expert.",
  "Take a deep breath.",
  "Think step by step.",
  "Explain your answer.",
  "Be polite.",
  "Begin with a greeting."
]

/** Generates `count` questions, each from its own random stream. */
const generated =
  (
    name: Task["name"],
    draw: (
      pick: <A>(choices: readonly [A, ...ReadonlyArray<A>]) => A,
      upTo: (from: number, to: number) => number
    ) => {
      readonly question: string
      readonly answer: string
    }
  ): Task["questions"] =>
  (count, seed) =>
    Array.from({ length: count }, (_, index) => {
      const { choice, nextIntBetween } = RandomStream.make(seed, ["gate", name, index])
      const { answer, question } = draw(choice, nextIntBetween)
      return {
        id: Question.QuestionId.make(`${name}/${index}`),
        question,
        goldenAnswers: [answer],
        dataSource: name
      }
    })

const firstNames = ["Anna", "Peter", "Maria", "David", "Laura", "James", "Emma", "Robert", "Julia", "Thomas"] as const
const lastNames = ["Smith", "Brown", "Miller", "Davis", "Wilson", "Moore", "Taylor", "Clark", "Lewis", "Young"] as const
const towns = ["London", "Paris", "Berlin", "Madrid", "Rome", "Vienna", "Oslo", "Dublin", "Lisbon", "Prague"] as const

export const format: Task = {
  name: "format",
  asks: "three parts in a given order, by the share at the right position",
  instructions: [
    "Write the person as name, town, year.",
    "List the name, the town and the year.",
    "Write the person as name, town, year. For example: Mary Jones, Athens, 1970",
    "Give only the name, the town and the year, on one line with commas between them.",
    "You are an expert. Take a deep breath and write the person as name, town, year."
  ],
  sentences: [
    ...idle,
    "Put commas between the parts.",
    "Write one line.",
    "Give only the name, the town and the year.",
    "Do not write a sentence.",
    "For example: Mary Jones, Athens, 1970",
    "Tell a story about the person."
  ],
  measure: "parts",
  tokens: 24,
  questions: generated("format", (pick, upTo) => {
    const [first, last, town] = [pick(firstNames), pick(lastNames), pick(towns)]
    const year = upTo(1900, 1999)
    return {
      question: `${first} ${last} was born in ${town} in ${year}.`,
      answer: `${first} ${last}, ${town}, ${year}`
    }
  })
}

const things = ["apples", "books", "coins", "cards", "eggs", "stamps"] as const

export const arithmetic: Task = {
  name: "arithmetic",
  asks: "word problems of one step, by the result of the first written calculation, or the last number",
  instructions: [
    "Answer the question.",
    "Answer the question with a number.",
    "Answer the question with a calculation, such as 12 * 3 = 36.",
    "Answer the question. Think step by step.",
    "You are an expert. Take a deep breath and answer the question."
  ],
  sentences: [
    ...idle,
    "Answer with a number.",
    "Write the calculation.",
    "Use the two numbers of the question.",
    "For example: 12 + 3 = 15",
    "Do not write numbers.",
    "Answer in one word."
  ],
  measure: "calculated",
  tokens: 32,
  questions: generated("arithmetic", (pick, upTo) => {
    const [name, thing, kind] = [pick(firstNames), pick(things), upTo(0, 2)]
    if (kind === 0) {
      const [had, got] = [upTo(11, 99), upTo(11, 99)]
      return {
        question: `${name} has ${had} ${thing} and gets ${got} more. How many ${thing} does ${name} have now?`,
        answer: `${had + got}`
      }
    }
    if (kind === 1) {
      const [had, gave] = [upTo(51, 99), upTo(11, 49)]
      return {
        question: `${name} has ${had} ${thing} and gives away ${gave} of them. How many ${thing} does ${name} have left?`,
        answer: `${had - gave}`
      }
    }
    const [boxes, each] = [upTo(3, 12), upTo(11, 29)]
    return {
      question: `${name} has ${boxes} boxes with ${each} ${thing} in each. How many ${thing} does ${name} have?`,
      answer: `${boxes * each}`
    }
  })
}

/** What the instructions of `letter` are made of; useful, useless and harmful. */
const letterSentences = [
  "Begin with Dear and the name.",
  "Wish a happy birthday.",
  "Write a letter.",
  "Write a birthday card.",
  "You are an expert.",
  "Take a deep breath.",
  "Think step by step.",
  "Explain your answer.",
  "Write one line.",
  "Answer in one word.",
  "Write a list.",
  "Do not use names."
]

const writeAbout = "Write about this."

export const letter: Task = {
  name: "letter",
  asks: "a letter to the person that wishes a happy birthday, 1 or 0",
  instructions: [
    writeAbout,
    `${writeAbout} Begin with Dear and the name. Wish a happy birthday.`,
    ...letterSentences.map((sentence) => `${writeAbout} ${sentence}`)
  ],
  sentences: letterSentences,
  measure: "letter",
  tokens: 28,
  questions: generated("letter", (pick, upTo) => {
    const [name, thing, count] = [pick(firstNames), pick(things), upTo(11, 99)]
    return { question: `${name} gave you ${count} ${thing}.`, answer: name }
  })
}
