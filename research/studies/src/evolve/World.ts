/**
 * A simulated agent whose prompts have known values. A prompt is a text; the clauses of a bank that it holds decide how well the agent
 * does: it succeeds on a case with the probability logistic(base + clauses + difficulty of the case + a part of case and clauses).
 */
import { Array as Arr } from "effect"
import { mean } from "simple-statistics"
import { RandomStream } from "@inspo/domain"
import { draw, quantile } from "../Normal.ts"

export interface World {
  readonly name: string
  readonly headroom: boolean
  /** The log-odds of a success under the original prompt on an average case. */
  readonly base: number
  /** What each clause of the {@link bank} adds to the log-odds. */
  readonly effects: ReadonlyArray<number>
  /** What the first two clauses add together, beside their own effects. */
  readonly pair: number
  /** Standard deviations of the difficulty of cases, and of what a case has to do with a set of clauses. */
  readonly difficulty: number
  readonly interaction: number
  /** The probability that the judge is wrong. */
  readonly flip: number
  /** What the log-odds change by over a budget of calls. */
  readonly drift: number
}

export const seedPrompt = "Sort the support ticket."

/** Four clauses that help where there is headroom, four that change nothing, and four that harm. */
export const bank: ReadonlyArray<string> = [
  "Answer with the label alone.",
  "Use one of the given labels.",
  "Read the whole ticket first.",
  "Decide by the main problem.",
  "Be polite.",
  "Think of the customer.",
  "Keep calm.",
  "Work carefully.",
  "Explain the answer at length.",
  "Answer in verse.",
  "Ask a question back.",
  "Name three labels."
]

const additive = [0.55, 0.55, 0.55, 0.55]
const useless = [0, 0, 0, 0, -0.4, -0.4, -0.7, -0.7]
/** What the kinds of agents have, if nothing else is said of them. */
export const plain = { base: -0.6, pair: 0, difficulty: 1.2, interaction: 0.5, flip: 0, drift: 0 }

const kinds: ReadonlyArray<Omit<World, "headroom" | "effects"> & { readonly helps: ReadonlyArray<number> }> = [
  { ...plain, name: "additive clauses", helps: additive },
  { ...plain, name: "interacting clauses", base: -1, helps: [0.2, 0.2, 0.7, 0.3], pair: 1.2 },
  { ...plain, name: "a format when asked for", base: -2, helps: [3, 0, 0, 0] },
  { ...plain, name: "a noisy judge", helps: additive, flip: 0.15 },
  { ...plain, name: "drift", base: -0.2, helps: additive, drift: -0.8 },
  { ...plain, name: "a deterministic agent", base: -1.8, helps: [1.6, 1.6, 1.6, 1.6], difficulty: 4, interaction: 1.5 },
  { ...plain, name: "mostly right", base: 0.8, helps: [0.6, 0.6, 0.4, 0.4] },
  { ...plain, name: "a single useful clause", base: -1, helps: [1.4, 0, 0, 0] }
]

/** The kinds that no optimizer was tuned on, and that the defaults of none were chosen on. */
export const untuned: ReadonlySet<string> = new Set(["mostly right", "a single useful clause"])

/** All kinds of agents, each with headroom and without. */
export const worlds: ReadonlyArray<World> = kinds.flatMap(({ helps, ...kind }) => [
  { ...kind, headroom: true, effects: [...helps, ...useless] },
  { ...kind, headroom: false, pair: 0, effects: [0, 0, 0, 0, ...useless] }
])

/** An agent that succeeds in 2 of 100 cases; with headroom one clause makes that 17. */
export const rare = (headroom: boolean): World => ({
  ...plain,
  name: "rare success",
  base: -4.67,
  headroom,
  effects: [headroom ? 2.61 : 0, 0, 0, 0, ...useless]
})

/** The places of the clauses that a prompt holds. */
export const clausesOf = (prompt: string): ReadonlyArray<number> =>
  bank.flatMap((clause, place) => (prompt.includes(clause) ? [place] : []))

/** An agent in a world: each call takes the next random number of its case, prompt and sample. */
export const open = (world: World, calls: number, seed: number) => {
  const samples = new Map<string, number>()
  let asked = 0
  return {
    answer: (prompt: string, id: number): Answer => {
      const clauses = clausesOf(prompt)
      const key = `${id} ${clauses.join()}`
      const sample = samples.get(key) ?? 0
      samples.set(key, sample + 1)
      const time = asked / calls
      asked += 1
      const stream = RandomStream.make(seed, ["answer", id, clauses.join(), sample])
      const isRight = stream.next() < chance(world, clauses, effectsOf(world, seed, id, clauses), time)
      return { prompt, id, sample, isRight, isJudgedRight: stream.next() < world.flip ? !isRight : isRight }
    },
    /** Whether the judge says that an answer is right, at the `nth` time from 0. */
    judge: ({ id, isJudgedRight, isRight, prompt, sample }: Answer, nth: number): boolean => {
      if (nth === 0) return isJudgedRight
      const stream = RandomStream.make(seed, ["judge", id, clausesOf(prompt).join(), sample, nth])
      return stream.next() < world.flip ? !isRight : isRight
    }
  }
}

/** An answer of the agent: whether it is right in truth, and by the first judgement. */
export interface Answer {
  readonly prompt: string
  readonly id: number
  readonly sample: number
  readonly isRight: boolean
  readonly isJudgedRight: boolean
}

/** The expected score of a prompt at the end of the budget, over all cases there could be. */
export const valueOf = (world: World, prompt: string): number => {
  const clauses = clausesOf(prompt)
  const spread = Math.hypot(world.difficulty, world.interaction)
  const share = mean(normal.map((at) => chance(world, clauses, spread * at, 1)))
  return share * (1 - 2 * world.flip) + world.flip
}

/** The middles of equal parts of the standard normal distribution. */
const normal = Arr.makeBy(1000, (part) => quantile((part + 0.5) / 1000))

/** The best prompt of a world holds every clause that helps. */
export const bestOf = ({ effects }: World): string =>
  [seedPrompt, ...bank.filter((_, place) => (effects[place] ?? 0) > 0)].join(" ")

const chance = (world: World, clauses: ReadonlyArray<number>, luck: number, time: number): number => {
  const own = clauses.reduce((sum, clause) => sum + (world.effects[clause] ?? 0), 0)
  const pair = clauses.includes(0) && clauses.includes(1) ? world.pair : 0
  return 1 / (1 + Math.exp(-(world.base + own + pair + luck + world.drift * time)))
}

const effectsOf = (world: World, seed: number, id: number, clauses: ReadonlyArray<number>): number =>
  world.difficulty * draw(RandomStream.make(seed, ["case", id])) +
  world.interaction * draw(RandomStream.make(seed, ["pair", id, clauses.join()]))
