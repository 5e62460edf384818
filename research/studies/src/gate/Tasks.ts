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
  reward: { ...config.reward, kind: { name: "command", command: [process.execPath, program, measure] } }
})

/** Of a task with passages, at an earlier version. It stays, since it is a setting of runs. */
const longestPrompt = 2400

const program = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "score.ts" : "score.js", import.meta.url))

const names = ["Anna", "Peter", "Maria", "David", "Laura", "James", "Emma", "Robert", "Julia", "Thomas"] as const
const things = ["apples", "books", "coins", "cards", "eggs", "stamps"] as const

/** What the instructions of `letter` are made of; useful, useless and harmful. */
const sentences = [
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

/** A task whose plain instruction hardly ever earns the reward, so that training cannot start under it. */
export const letter: Task = {
  name: "letter",
  asks: "a letter to the person that wishes a happy birthday, 1 or 0",
  instructions: [
    writeAbout,
    `${writeAbout} Begin with Dear and the name. Wish a happy birthday.`,
    ...sentences.map((sentence) => `${writeAbout} ${sentence}`)
  ],
  sentences,
  measure: "letter",
  tokens: 28,
  questions: (count, seed) =>
    Array.from({ length: count }, (_, index) => {
      const { choice, nextIntBetween } = RandomStream.make(seed, ["gate", "letter", index])
      const [name, thing, number] = [choice(names), choice(things), nextIntBetween(11, 99)]
      return {
        id: Question.QuestionId.make(`letter/${index}`),
        question: `${name} gave you ${number} ${thing}.`,
        goldenAnswers: [name],
        dataSource: "letter"
      }
    })
}
