/** What happened in a run as plain lists, and what follows from it, computed anew each time. */
import type { Algorithm } from "@inspo/coevolution"

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
  /** The same beside that of whom they were compared with. */
  readonly compared: Map<string, { readonly mean: number; readonly rival: string; readonly rivalMean: number }>
  newcomers: ReadonlyArray<string>
  /** The step after which an instruction entered, of those that did not begin the run. */
  readonly entered: Map<string, number>
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
  compared: new Map(),
  newcomers: [],
  entered: new Map(),
  left: [],
  present: [],
  remembered: [],
  validated: []
})

/** Eq. 6 for one instruction with what was observed until `step`; null when it was never sampled since the reset. */
export const value = (algorithm: Algorithm, history: History, id: string, step: number): number | null => {
  const { average, window } = algorithm.population
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
    algorithm.population.average === "steps" &&
    own.length > 0 &&
    own.every((one) => one.step <= history.observed - algorithm.population.window)
  )
}

/** W_t. */
export const values = (algorithm: Algorithm, history: History): ReadonlyMap<string, number> =>
  valuesOf(algorithm, history, history.alive, history.observed)

/** W_{t-1} or W_t, by which the present step prunes and chooses parents (rows 3 and 28). */
export const valued = (algorithm: Algorithm, history: History): ReadonlyMap<string, number> =>
  algorithm.halving.ranking === "before"
    ? valuesOf(algorithm, history, history.present, history.step - 1)
    : values(algorithm, history)

const valuesOf = (
  algorithm: Algorithm,
  history: History,
  ids: ReadonlyArray<string>,
  step: number
): ReadonlyMap<string, number> => {
  const known = ids.map((id) => value(algorithm, history, id, step))
  const others = known.filter((own) => own !== null)
  const unseen = algorithm.population.average === "draws" || others.length === 0 ? 0 : mean(others)
  return new Map(ids.map((id, index) => [id, known[index] ?? unseen]))
}

/** Eq. 4 as 1 / Σ_k exp((w_k - w_j) / τ). */
export const probabilities = (algorithm: Algorithm, history: History): ReadonlyMap<string, number> => {
  const all = values(algorithm, history)
  return new Map(
    [...all].map(([id, own]) => [
      id,
      1 / total([...all.values()].map((other) => Math.exp((other - own) / algorithm.sampler.temperature)))
    ])
  )
}

/** The trajectories the buffer holds: those of the latest steps, of each question the latest and worst. */
export const buffer = ({ buffer }: Algorithm, history: History): ReadonlyArray<Remembered> => {
  const recent = history.remembered.filter(({ step }) => step > history.observed - buffer.capacitySteps)
  const cap = buffer.perQuestionCap ?? Infinity
  return recent.filter((one) => {
    const rivals = recent.filter(({ question }) => question === one.question)
    return rivals.toSorted((a, b) => b.step - a.step || a.reward - b.reward).indexOf(one) < cap
  })
}

/** I*. */
export const bestOf = (algorithm: Algorithm, history: History): string => {
  const blind = history.alive.every((id) => value(algorithm, history, id, history.observed) === null)
  if (algorithm.population.ties === "order" || !blind)
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
  return algorithm.evaluation.instruction === "best" || lead(history, seed, best) > 0 ? best : seed
}

/** 1 for whoever was seen to do better than the seed, 0 as well, NaN for anybody else. */
const lead = (history: History, seed: string, id: string): number => {
  if (id === seed) return 0
  const lifetime = (one: string) =>
    mean(history.observations.filter((seen) => seen.id === one).flatMap(({ rewards }) => rewards))
  const gain = lifetime(id) - lifetime(seed)
  if (gain > 1e-9) return 1
  const trial = history.compared.get(id)
  if (trial !== undefined) {
    const start = lead(history, seed, trial.rival)
    const step = trial.mean - trial.rivalMean
    if (step > 1e-9 && start >= 0) return 1
    if (Math.abs(step) <= 1e-9 && start >= 0) return start
  }
  return Math.abs(gain) <= 1e-9 ? 0 : NaN
}

/** The instructions alive, best first. */
export const ranking = (
  algorithm: Algorithm,
  history: History,
  by: ReadonlyMap<string, number>
): ReadonlyArray<string> =>
  history.alive.toSorted((a, b) => {
    const better = (by.get(b) ?? 0) - (by.get(a) ?? 0)
    if (better !== 0 || algorithm.population.ties === "order") return better
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
