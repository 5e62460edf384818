/** The probability of each instruction for a question, where a step is assigned as a whole and newcomers are guaranteed a group. */
import { Array as Arr } from "effect"
import type { InstructionId } from "@inspo/domain/Instruction"
import type { Share } from "./Choose.ts"

/** `shares` sum to 1; `strata` is the number of questions of each; `guaranteed` instructions get a group. */
export interface Step {
  readonly shares: ReadonlyArray<Share>
  readonly strata: Readonly<Record<string, number>>
  readonly guaranteed: ReadonlyArray<InstructionId>
}

/**
 * The probability of each instruction for a question of each stratum, under the stratified assignment of `Sampler`. If
 * every instruction is sure to get a group, these are `shares`. Else they are exact: within a stratum the counts depend on one
 * offset only and are constant between a few points, so all cases can be counted. Null if there are more than 100,000.
 */
export const stratified = (step: Step): Readonly<Record<string, ReadonlyArray<Share>>> | null => {
  const strata = Object.entries(step.strata)
  const certain = (id: InstructionId) => {
    const share = step.shares.find((one) => one.id === id)?.probability ?? 0
    return strata.some(([, size]) => Math.floor(size * share + 1e-12) >= 1)
  }
  if (step.guaranteed.every(certain)) return Object.fromEntries(strata.map(([name]) => [name, step.shares]))
  const cases = strata.map(([, size]) => casesOf(step.shares, size))
  if (cases.reduce((total, some) => total * some.length, 1) > most) return null
  const totals = strata.map(() => step.shares.map(() => 0))
  for (const joint of product(cases)) {
    const chance = joint.reduce((all, one) => all * one.chance, 1)
    const counts = serve(
      joint.map(({ counts }) => counts),
      step
    )
    for (const [row, sums] of totals.entries())
      for (const column of sums.keys()) sums[column] = (sums[column] ?? 0) + chance * (counts[row]?.[column] ?? 0)
  }
  return Object.fromEntries(
    strata.map(([name, size], row) => [
      name,
      step.shares.map(({ id }, column) => ({ id, probability: (totals[row]?.[column] ?? 0) / size }))
    ])
  )
}

const most = 100_000

interface Case {
  readonly chance: number
  readonly counts: ReadonlyArray<number>
}

/** The counts of a stratum for every offset in [0, 1), with the length of the interval of offsets that leads to them. */
const casesOf = (shares: ReadonlyArray<Share>, size: number): ReadonlyArray<Case> => {
  const order = [...shares.keys()].toSorted((a, b) => ((shares[a]?.id ?? "") < (shares[b]?.id ?? "") ? -1 : 1))
  const probabilities = order.map((index) => shares[index]?.probability ?? 0)
  const ends = Arr.scan(probabilities, 0, (end, share) => end + share)
    .slice(1)
    .map((end, index, all) => (index === all.length - 1 ? size : end * size))
  const breaks = [...new Set([0, ...ends.map((end) => end - Math.floor(end)), 1])].toSorted((a, b) => a - b)
  return breaks.slice(1).map((end, index) => {
    const start = breaks[index] ?? 0
    const offset = (start + end) / 2
    const below = ends.map((edge) => Math.max(0, Math.min(size, Math.ceil(edge - offset))))
    const counts = shares.map(() => 0)
    for (const [rank, index] of order.entries()) counts[index] = (below[rank] ?? 0) - (below[rank - 1] ?? 0)
    return { chance: end - start, counts }
  })
}

const product = (cases: ReadonlyArray<ReadonlyArray<Case>>): ReadonlyArray<ReadonlyArray<Case>> =>
  cases.reduce<ReadonlyArray<ReadonlyArray<Case>>>(
    (joint, some) => joint.flatMap((before) => some.map((one) => [...before, one])),
    [[]]
  )

/** The expected counts after each guaranteed instruction without a group took one from the instruction with the most to spare. */
const serve = (
  counts: ReadonlyArray<ReadonlyArray<number>>,
  { guaranteed, shares }: Step
): ReadonlyArray<ReadonlyArray<number>> => {
  const owed = new Set(guaranteed)
  const served = counts.map((row) => [...row])
  const total = (column: number) => served.reduce((sum, row) => sum + (row[column] ?? 0), 0)
  const ids = shares.map(({ id }) => id)
  for (const id of owed) {
    const taker = ids.indexOf(id)
    if (Math.round(total(taker)) > 0) continue
    const donor = [...ids.keys()]
      .map((column) => ({ column, spare: Math.round(total(column)) - (owed.has(ids[column] ?? id) ? 1 : 0) }))
      .filter(({ column, spare }) => spare > 0 && Math.round(total(column)) > 0)
      .toSorted((a, b) => b.spare - a.spare || ((ids[a.column] ?? "") < (ids[b.column] ?? "") ? -1 : 1))[0]?.column
    if (donor === undefined) break
    const all = total(donor)
    for (const row of served) {
      const given = (row[donor] ?? 0) / all
      row[donor] = (row[donor] ?? 0) - given
      row[taker] = (row[taker] ?? 0) + given
    }
  }
  return served
}
