import { Moments } from "@inspo/statistics"
import { logRatios, type Sequence, surrogate } from "../Surrogate.ts"

/**
 * GMPO: the geometric mean of the ratios of a sequence, each clipped on the side in which its advantage pushes it. Clipped
 * tokens have no gradient; the others share the mean, which is between the least and the largest ratio.
 */
export const gmpo = surrogate({
  name: "gmpo",
  description: "takes the geometric mean of one-sidedly clipped ratios",
  formula: "g = GA, 0 on clipped tokens; log G = mean of min(log ρ, ε) for A > 0, max(log ρ, −ε) for A < 0",
  source: "GMPO (verl, TRL)",
  certainty: "code",
  verl: "geo_mean",
  trl: "gmpo (experimental)",
  ofSequences: true,
  defaults: { epsilon: 0.4 },
  gradient: (sequence, { epsilon }) => {
    const logs = logRatios(sequence)
    const clipped = clippedLogs(logs, sequence, epsilon)
    const geometric = Math.exp(Moments.mean(clipped))
    return sequence.advantages.map((advantage, index) => (logs[index] === clipped[index] ? geometric * advantage : 0))
  },
  written: (sequence, { epsilon }) =>
    Math.exp(Moments.mean(clippedLogs(logRatios(sequence), sequence, epsilon))) * Moments.mean(sequence.advantages)
})

const clippedLogs = (logs: ReadonlyArray<number>, { advantages }: Sequence, epsilon: number): ReadonlyArray<number> =>
  logs.map((log, index) => ((advantages[index] ?? 0) > 0 ? Math.min(log, epsilon) : Math.max(log, -epsilon)))
