/**
 * Whether instructions are handed out, and reach the evidence, as often as their probabilities say: bets that they are not. Their
 * capital is expected to stay as it is while they are, so that it ever becomes {@link alarm} with a probability of 1 %. For each
 * instruction one bet says that it has five points too many; another one follows what was seen.
 */
import type { Group } from "@inspo/evolution"
import { sumAll } from "effect/Number"

/** Capital at stake and in reserve, together 1 at first. The reserve is for faults that begin later. */
export interface SampleRatio {
  /** That of the bet that follows what was seen. */
  readonly stake: number
  readonly reserve: number
  /** The most that the capital ever was. */
  readonly evidence: number
  readonly units: number
  /** By instruction: its recent units, how many were expected, and the capital of the bet on it. */
  readonly counts: Readonly<Record<string, Count>>
}

/** How likely a unit gets an instruction. */
export interface Chance {
  readonly id: string
  readonly probability: number
}

interface Count {
  readonly given: number
  readonly expected: number
  readonly stake: number
}

/** The evidence at which the ratio is taken to be wrong: chance alone brings it with a probability of at most 1 / 100, ever. */
export const alarm = 100

export const none: SampleRatio = { stake: 0, reserve: 1, evidence: 1, units: 0, counts: {} }

/** After the units of a cohort. Those of questions that were asked more than once are no independent draws, and are left out. */
export const after = (
  before: SampleRatio,
  shares: ReadonlyArray<Chance>,
  units: ReadonlyArray<Pick<Group, "instruction" | "question">>
): SampleRatio => {
  const questions = units.flatMap(({ question }) => question ?? [])
  return new Set(questions).size < questions.length
    ? before
    : units.reduce((ratio, { instruction }) => afterUnit(ratio, shares, instruction), before)
}

const afterUnit = (
  { counts, evidence, stake, reserve, units }: SampleRatio,
  shares: ReadonlyArray<Chance>,
  instruction: string
): SampleRatio => {
  const factor = (id: string): number => {
    const { expected, given } = countOf(counts, id)
    return (given + prior) / (expected + prior)
  }
  const left = (1 - firstStake) / (1 + Math.log2(1 + units / pace))
  const mean = shares.reduce((sum, { id, probability }) => sum + probability * factor(id), 0)
  const followed = ((stake + followingShare * (reserve - left)) * factor(instruction)) / mean
  const living = new Set(shares.map(({ id }) => id))
  const freed = sumAll(Object.entries(counts).map(([id, count]) => (living.has(id) ? 0 : count.stake)))
  const more = (freed + (1 - followingShare) * (reserve - left)) / shares.length
  const bets = shares.map(({ id, probability }): readonly [string, Count] => {
    const { expected, given, stake } = countOf(counts, id)
    const isGiven = id === instruction
    return [
      id,
      {
        given: memory * given + (isGiven ? 1 : 0),
        expected: memory * expected + probability,
        stake: (stake + more) * odds(probability, isGiven)
      }
    ]
  })
  return {
    stake: followed,
    reserve: left,
    evidence: Math.max(evidence, followed + left + sumAll(bets.map(([, count]) => count.stake))),
    units: units + 1,
    counts: Object.fromEntries(bets)
  }
}

/** What a bet that an instruction has five points too many returns, by whether a unit got it. Smaller shares are not bet on as much. */
const odds = (probability: number, isGiven: boolean): number => {
  const more = Math.min(0.05, 4 * probability, (1 - probability) / 2)
  if (more === 0) return 1
  return isGiven ? 1 + more / probability : 1 - more / (1 - probability)
}

const countOf = (counts: SampleRatio["counts"], id: string): Count =>
  (Object.hasOwn(counts, id) ? counts[id] : undefined) ?? { given: 0, expected: 0, stake: 0 }

/** Units as expected that are added to those of an instruction, so that few units change the bet little. */
const prior = 20
/** How much of a unit counts after the next one: some 2,000 units decide the bet. */
const memory = 0.9995
const firstStake = 0.9
/** How much of the capital the bet gets that follows what was seen. */
const followingShare = 0.2
/** The units in which the reserve is halved for the first time. */
const pace = 1000
