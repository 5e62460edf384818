/** What happened in a run as plain lists, and what follows from it, computed anew each time. */
import type { Algorithm } from "@inspo/coevolution"
import * as Evidence from "./Evidence.ts"

/** What an instruction was credited with in one step. */
interface Observation {
  readonly step: number
  readonly id: string
  readonly rewards: ReadonlyArray<number>
  readonly groups: number
}

export interface Remembered {
  readonly trajectory: string
  readonly instruction: string
  readonly question: string
  readonly step: number
  readonly reward: number
  readonly source: string
}

/** All that happened so far, in plain words. */
export interface History {
  /** Policy updates done, and steps observed: one more between the rollouts of a step and its update. */
  step: number
  observed: number
  /** The instructions alive, in order of entry, and those that ever were. */
  alive: ReadonlyArray<string>
  born: ReadonlyArray<{ readonly id: string; readonly text: string }>
  /** How many the first population held. */
  first: number
  observations: ReadonlyArray<Observation>
  /** W counts what was observed after this step. */
  reset: number
  /** Mean on the verification questions, of those that were verified. */
  readonly verified: Map<string, number>
  /** Whether the best within questions was better than the seed when that was last alive. */
  isProven: boolean
  newcomers: ReadonlyArray<string>
  /** How the instructions compare. */
  readonly evidence: Evidence.Evidence
  /** W_t where it follows from the evidence: of the run, once it is checked. */
  valued: ReadonlyMap<string, number>
  /** W of the latest plan. */
  planned: ReadonlyMap<string, number>
  /** Those who entered in the latest evolution, for so many places. */
  entrants: { readonly places: number; readonly ids: ReadonlyArray<string> } | null
  /** Who left, with which value, in order of leaving. */
  left: ReadonlyArray<{ readonly id: string; readonly value: number }>
  /** Who was alive when the latest step was rolled out. */
  present: ReadonlyArray<string>
  remembered: ReadonlyArray<Remembered>
  validated: ReadonlyArray<{ readonly step: number; readonly mean: number }>
}

export const nothing = (): History => ({
  step: 0,
  observed: 0,
  alive: [],
  born: [],
  first: 0,
  observations: [],
  reset: 0,
  verified: new Map(),
  isProven: false,
  newcomers: [],
  evidence: Evidence.nothing(),
  valued: new Map(),
  planned: new Map(),
  entrants: null,
  left: [],
  present: [],
  remembered: [],
  validated: []
})

/** Eq. 6 for one instruction with what was observed until `step`; null when it was never sampled since the reset. */
export const value = (algorithm: Algorithm, history: History, id: string, step: number): number | null => {
  const { average, window } = algorithm.selection
  const own = since(history, id, step)
  if (own.length === 0) return null
  const counted = average === "draws" ? own.slice(-window) : own.filter((one) => one.step > step - window)
  // The window ran empty: what it held a step ago still counts.
  if (counted.length === 0) return value(algorithm, history, id, step - 1)
  const divisor = average === "draws" ? window : counted.length
  return total(counted.map(({ rewards }) => mean(rewards))) / divisor
}

/** Whether the value outlived its window. */
export const isStale = (algorithm: Algorithm, history: History, id: string): boolean => {
  const own = since(history, id, history.observed)
  return (
    algorithm.selection.average !== "draws" &&
    own.length > 0 &&
    own.every((one) => one.step <= history.observed - algorithm.selection.window)
  )
}

/** W_t. */
export const values = (algorithm: Algorithm, history: History): ReadonlyMap<string, number> =>
  algorithm.selection.average === "questions"
    ? history.valued
    : valuesOf(algorithm, history, history.alive, history.observed)

/** The mean of the last steps, with the difference that the evidence shows. */
export const expected = (algorithm: Algorithm, history: History): ReadonlyMap<string, number> => {
  if (algorithm.selection.average !== "questions") return values(algorithm, history)
  const { evidence } = history
  const { means } = Evidence.model(evidence, history.alive)
  const seen = history.alive.flatMap((id, place) =>
    history.observations
      .filter((one) => one.id === id && one.step > history.observed - algorithm.selection.window)
      .flatMap(({ rewards }) => rewards.map((reward) => reward - (means[place] ?? NaN)))
  )
  const level = seen.length === 0 ? (evidence.sum + 1) / (evidence.samples + 2) : mean(seen)
  return new Map(history.alive.map((id, place) => [id, level + (means[place] ?? NaN)]))
}

/** W_{t-1} or W_t, by which the present step prunes and chooses parents (rows 3 and 28). */
export const valued = (algorithm: Algorithm, history: History): ReadonlyMap<string, number> =>
  algorithm.selection.ranking === "before"
    ? algorithm.selection.average === "questions"
      ? history.planned
      : valuesOf(algorithm, history, history.present, history.step - 1)
    : values(algorithm, history)

const valuesOf = (
  algorithm: Algorithm,
  history: History,
  ids: ReadonlyArray<string>,
  step: number
): ReadonlyMap<string, number> => {
  const known = ids.map((id) => value(algorithm, history, id, step))
  const others = known.filter((own) => own !== null)
  const unseen = algorithm.selection.average === "draws" || others.length === 0 ? 0 : mean(others)
  return new Map(ids.map((id, index) => [id, known[index] ?? unseen]))
}

/** P(best) and 2 % of everybody, or Eq. 4 as 1 / Σ_k exp((w_k - w_j) / τ). */
export const probabilities = (algorithm: Algorithm, history: History): ReadonlyMap<string, number> => {
  const { chances } = history.evidence
  if (algorithm.selection.shares === "thompson")
    return new Map([...chances].map(([id, chance]) => [id, (chance + 0.02) / (1 + 0.02 * chances.size)]))
  const all = values(algorithm, history)
  return new Map(
    [...all].map(([id, own]) => [
      id,
      1 / total([...all.values()].map((other) => Math.exp((other - own) / algorithm.selection.temperature)))
    ])
  )
}

/** The trajectories the buffer holds: those of the latest steps, of each question the latest and worst. */
export const buffer = ({ selection }: Algorithm, history: History): ReadonlyArray<Remembered> => {
  const recent = history.remembered.filter(({ step }) => step > history.observed - selection.capacitySteps)
  const cap = selection.perQuestionCap ?? Infinity
  return recent.filter((one) => {
    const rivals = recent.filter(({ question }) => question === one.question)
    return rivals.toSorted((a, b) => b.step - a.step || a.reward - b.reward).indexOf(one) < cap
  })
}

/** I*. */
export const bestOf = (algorithm: Algorithm, history: History): string => {
  if (algorithm.selection.average === "questions") return history.evidence.incumbent
  const blind = history.alive.every((id) => value(algorithm, history, id, history.observed) === null)
  if (algorithm.selection.ties === "order" || !blind)
    return ranking(algorithm, history, values(algorithm, history))[0] ?? ""
  const known = new Map(
    history.alive.map((id) => {
      const rewards = history.observations.filter((one) => one.id === id).flatMap(({ rewards }) => rewards)
      return [id, rewards.length > 0 ? mean(rewards) : (history.verified.get(id) ?? 0)]
    })
  )
  return ranking(algorithm, history, known)[0] ?? ""
}

/** The instruction to use from now on (row 29). */
export const returned = (algorithm: Algorithm, history: History): string => {
  const best = bestOf(algorithm, history)
  const seed = history.born[0]?.id ?? ""
  return algorithm.selection.instruction === "best" || history.isProven ? best : seed
}

/** The instructions alive, best first. */
export const ranking = (
  algorithm: Algorithm,
  history: History,
  by: ReadonlyMap<string, number>
): ReadonlyArray<string> =>
  history.alive.toSorted((a, b) => {
    const better = (by.get(b) ?? 0) - (by.get(a) ?? 0)
    if (better !== 0 || algorithm.selection.ties === "order") return better
    return groupsSeen(history, b) - groupsSeen(history, a) || birth(history, a) - birth(history, b)
  })

/** Place in the order of birth. */
const birth = (history: History, id: string): number => history.born.findIndex((one) => one.id === id)

export const groupsSeen = (history: History, id: string): number =>
  total(history.observations.filter((one) => one.id === id).map(({ groups }) => groups))

/** What W may count of an instruction. */
const since = (history: History, id: string, step: number): ReadonlyArray<Observation> =>
  history.observations.filter((one) => one.id === id && one.step > history.reset && one.step <= step)

export const total = (values: ReadonlyArray<number>): number => {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

export const mean = (values: ReadonlyArray<number>): number => total(values) / values.length
