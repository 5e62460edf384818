/** What the comparison within questions says about the best instruction and the seed, in one sentence. */
import type { RunState } from "@inspo/coevolution"
import { Difference, Population } from "@inspo/population"
import { Option } from "effect"
import { count, inPoints } from "@inspo/report"

/** The sentence, with instructions as `label` writes them; empty before the first step. */
export const verdict = (
  { evidence, instructions, population }: RunState.RunState,
  label: (id: string) => string
): string => {
  const seed = instructions[0]?.id
  const best = Population.incumbent(population)?.instruction.id
  if (seed === undefined || best === undefined || population.step === 0) return ""
  if (Option.isNone(Population.find(population, seed)))
    return evidence === null
      ? `The seed ${seed} has left, and nothing showed that another instruction is better.`
      : `Within the same questions ${label(evidence.instruction)} was ${ahead(evidence)} the seed ${seed}, which has left.`
  if (best === seed) return `No instruction is ahead of the seed ${seed} within the same questions.`
  const difference = Difference.between(population, best, seed)
  if (difference === null) return ""
  const shown = ahead({ ...difference, difference: difference.mean })
  if (difference.lower > 0) return `Within the same questions ${label(best)} is ${shown} the seed ${seed}.`
  const needed = Difference.rewardsNeeded(population, best, seed)
  return (
    `Undecided: within the same questions ${label(best)} is ${shown} the seed ${seed}` +
    (needed === null ? "." : `; about ${count(rounded(needed))} more rollouts would separate them.`)
  )
}

const ahead = ({
  difference,
  lower,
  upper
}: {
  readonly difference: number
  readonly lower: number
  readonly upper: number
}): string => `${inPoints(difference, [lower, upper])} better than`

/** To two significant digits. */
const rounded = (value: number): number => Number(value.toPrecision(2))
