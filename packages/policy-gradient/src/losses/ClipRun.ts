import { sumAll } from "effect/Number"
import { clippedObjective, clippedWeight, logRatios, type Sequence, surrogate, type Surrogate } from "../Surrogate.ts"

/**
 * LOOP's clip of longer actions: the ratio is the product of those of a turn, or of the whole trajectory, and all its tokens
 * are clipped together. A turn of one token is `clip`.
 */
const clipRun = <const Name extends string>(
  name: Name,
  what: string,
  runOf: (sequence: Sequence, index: number) => number
): Surrogate<Name, { readonly low: number; readonly high: number }> =>
  surrogate({
    name,
    description: `clips the product of the ratios of ${what}`,
    formula: `g = RA, clipped by R; R = Π ρ of ${what}`,
    source: "LOOP, arXiv 2502.01600",
    certainty: "text",
    defaults: { low: 0.2, high: 0.2 },
    gradient: (sequence, bounds) => {
      const runs = ratiosOf(sequence, runOf)
      return sequence.advantages.map((advantage, index) =>
        clippedWeight(runs.get(runOf(sequence, index)) ?? 1, advantage, bounds)
      )
    },
    written: (sequence, bounds) =>
      sumAll(
        [...ratiosOf(sequence, runOf)].map(([run, ratio]) => {
          const first = sequence.advantages.findIndex((_, index) => runOf(sequence, index) === run)
          return clippedObjective(ratio, sequence.advantages[first] ?? 0, bounds)
        })
      ) / sequence.logprobs.length
  })

const ratiosOf = (
  sequence: Sequence,
  runOf: (sequence: Sequence, index: number) => number
): ReadonlyMap<number, number> => {
  const logs = new Map<number, number>()
  for (const [index, log] of logRatios(sequence).entries()) {
    const run = runOf(sequence, index)
    logs.set(run, (logs.get(run) ?? 0) + log)
  }
  return new Map([...logs].map(([run, log]) => [run, Math.exp(log)]))
}

export const clipTurn = clipRun("clip-turn", "a turn", ({ turns }, index) => turns?.[index] ?? 0)

export const clipTrajectory = clipRun("clip-trajectory", "the trajectory", () => 0)
