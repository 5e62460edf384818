import { fileURLToPath } from "node:url"
import type { RunConfig } from "@inspo/config"
import { Question, RandomStream } from "@inspo/domain"
import { Effect, Random } from "effect"
import type { Measure } from "./Measures.ts"

/** What a small model can do at all, and five ways to ask for it. */
export interface Task {
  readonly name: "passages" | "format" | "arithmetic"
  readonly asks: string
  /** Written by hand before any was tried; the first is plain, each other adds one piece of advice. */
  readonly instructions: readonly [string, string, string, string, string]
  /** The agent and the reward of the task, over settings that say the rest. */
  readonly configure: (config: RunConfig) => RunConfig
  /** At most `count` questions of `seed`; `data` are those that the settings name. */
  readonly questions: (data: GateData, count: number, seed: number) => ReadonlyArray<Question.Question>
}

/** Questions that know which passages support them, and the passages. */
export interface GateData {
  readonly questions: ReadonlyArray<Question.Question>
  readonly passages: ReadonlyArray<Question.Passage>
}

/** One turn, of which the reward is what `measure` says of its text: small models seldom write tags. */
const alone = (config: RunConfig, measure: Measure): RunConfig => ({
  ...config,
  rollout: {
    ...config.rollout,
    agent: "direct",
    maxResponseTokens: 64,
    maxPromptTokens: Math.max(config.rollout.maxPromptTokens, longestPrompt),
    texts: { ...config.rollout.texts, prompt: "{instruction}\n\n{question}" },
    scoredTurns: "all"
  },
  reward: { ...config.reward, kind: "command", command: [process.execPath, program, measure] }
})

/** Three long passages and a question. */
const longestPrompt = 2400

const program = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "score.ts" : "score.js", import.meta.url))

/** The passages that support a question, then the question; null where it does not say which these are. */
const withPassages = ({ questions, passages }: GateData, count: number): ReadonlyArray<Question.Question> => {
  const texts = new Map(passages.map(({ id, text, title }) => [id, `${title}: ${text}`]))
  return questions
    .flatMap((question) => {
      const found = (question.supportIds ?? []).flatMap((id) => texts.get(id) ?? [])
      return found.length > 0 && found.length === question.supportIds?.length
        ? [{ ...question, question: `${found.join("\n")}\n\nQuestion: ${question.question}` }]
        : []
    })
    .slice(0, count)
}

const passages: Task = {
  name: "passages",
  asks: "short answers from the passages that hold them, by F1",
  instructions: [
    "Answer the question from the passages.",
    "Answer the question from the passages. Write nothing but the name, date or number.",
    "Answer the question from the passages. For example: Paris",
    "Answer the question from the passages. First quote the sentence that holds the answer.",
    "You are an expert. Take a deep breath and answer the question from the passages."
  ],
  configure: (config) => alone(config, "words"),
  questions: withPassages
}

/** `count` questions, each drawn from a stream of its own. */
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
  (_, count, seed) =>
    Array.from({ length: count }, (_, index) => {
      const { answer, question } = RandomStream.drawSync(
        seed,
        ["gate", name, index],
        Effect.map(Random.Random, (random) => {
          const upTo = (from: number, to: number) => from + Math.floor(random.nextDoubleUnsafe() * (to - from + 1))
          return draw((choices) => choices[upTo(0, choices.length - 1)] ?? choices[0], upTo)
        })
      )
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

const format: Task = {
  name: "format",
  asks: "four parts in the order that is asked for, by the share in its place",
  instructions: [
    "Write the person as last name, first name, year, town.",
    "Write the person as last name, first name, year, town. Write nothing else.",
    "Write the person as last name, first name, year, town. For example: Jones, Mary, 1970, Athens",
    "Write the person as last name, first name, year, town. First say what each part is.",
    "You are an expert. Take a deep breath and write the person as last name, first name, year, town."
  ],
  configure: (config) => alone(config, "parts"),
  questions: generated("format", (pick, upTo) => {
    const [first, last, town] = [pick(firstNames), pick(lastNames), pick(towns)]
    const year = upTo(1900, 1999)
    return {
      question: `${first} ${last} was born in ${town} in ${year}.`,
      answer: `${last}, ${first}, ${year}, ${town}`
    }
  })
}

const tags = "Work it out between <calculate> and </calculate>. Put the final answer between <answer> and </answer>."

const arithmetic: Task = {
  name: "arithmetic",
  asks: "arithmetic with the calculator, by the last number",
  instructions: [
    `Answer the question. ${tags}`,
    `Answer the question. ${tags} Write nothing but the number in the answer.`,
    `Answer the question. ${tags} For example: <calculate>12 * 3</calculate>, then <answer>36</answer>`,
    `Answer the question. ${tags} Think step by step before you calculate.`,
    `You are an expert. Take a deep breath and answer the question. ${tags}`
  ],
  configure: (config) => {
    const made = alone(config, "number")
    return { ...made, rollout: { ...made.rollout, agent: "search-r1", tools: ["calculate"], maxTurns: 1 } }
  },
  questions: generated("arithmetic", (pick, upTo) => {
    const operator = pick(["+", "-", "*"])
    const [left, right] = operator === "*" ? [upTo(12, 99), upTo(3, 19)] : [upTo(100, 999), upTo(11, 99)]
    const answer = operator === "+" ? left + right : operator === "-" ? left - right : left * right
    return { question: `What is ${left} ${operator} ${right}?`, answer: `${answer}` }
  })
}

/** The tasks of the gate, in order. */
export const tasks: readonly [Task, ...ReadonlyArray<Task>] = [passages, format, arithmetic]
