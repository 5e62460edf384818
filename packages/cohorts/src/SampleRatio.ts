/**
 * Whether instructions are handed out, and reach the evidence, as often as their probabilities say: a bet that they are not. Its
 * capital is expected to stay as it is while they are, so that it ever becomes {@link alarm} with a probability of 1 %.
 */
import type { Group } from "@inspo/evolution"

/** Capital at stake and in reserve, together 1 at first. The reserve is for faults that begin later. */
export interface SampleRatio {
  readonly stake: number
  readonly reserve: number
  /** The most that the capital ever was. */
  readonly evidence: number
  readonly units: number
  /** By instruction: its recent units, and how many were expected. */
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
  const staked = ((stake + reserve - left) * factor(instruction)) / mean
  return {
    stake: staked,
    reserve: left,
    evidence: Math.max(evidence, staked + left),
    units: units + 1,
    counts: Object.fromEntries(
      shares.map(({ id, probability }) => {
        const { expected, given } = countOf(counts, id)
        return [id, { given: memory * given + (id === instruction ? 1 : 0), expected: memory * expected + probability }]
      })
    )
  }
}

const countOf = (counts: SampleRatio["counts"], id: string): Count =>
  (Object.hasOwn(counts, id) ? counts[id] : undefined) ?? { given: 0, expected: 0 }

/** Units as expected that are added to those of an instruction, so that few units change the bet little. */
const prior = 20
/** How much of a unit counts after the next one: some 2,000 units decide the bet. */
const memory = 0.9995
const firstStake = 0.8
/** The units in which the reserve is halved for the first time. */
const pace = 1000
