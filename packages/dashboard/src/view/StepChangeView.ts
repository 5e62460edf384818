/** Why the training reward changed at a step. */
import { Instruction } from "@inspo/domain"
import { Interval } from "@inspo/statistics"
import { inPoints, percent } from "@inspo/report"
import { Schema } from "effect"
import { Mark, Names } from "./OverviewView.ts"

/** The training answers of some steps and their mean reward. */
export const Stretch = Schema.Struct({
  from: Schema.Int,
  to: Schema.Int,
  answers: Schema.Int,
  mean: Schema.Finite
})

const Answers = Schema.Struct({ answers: Schema.Int, mean: Schema.NullOr(Schema.Finite) })

/** The causes of a change, in the order in which they are shown. */
export const causes = ["entered", "left", "shares", "within"] as const

/**
 * The steps before `step` compared with those from it on. `parts` sum up to the difference: instructions that `entered` or `left`
 * between the two, other `shares` of the instructions that were in both, and other rewards `within` those. `difference.ci95` is
 * an interval over questions; null where a stretch has fewer than two.
 */
export const StepChangeView = Schema.Struct({
  step: Schema.Int,
  before: Stretch,
  after: Stretch,
  difference: Schema.Struct({ mean: Schema.Finite, ci95: Schema.NullOr(Interval.Interval) }),
  parts: Schema.Record(Schema.Literals(causes), Schema.Finite),
  instructions: Schema.Array(
    Schema.Struct({ id: Instruction.InstructionId, before: Answers, after: Answers, part: Schema.Finite })
  ),
  decisions: Schema.Array(Mark),
  names: Names
})
export interface StepChangeView extends Schema.Schema.Type<typeof StepChangeView> {}

/** The change in one sentence: `The training reward changed by −8.2 points [−12.1, −4.3], from 61.2 % in steps 25 to 29 to 53.0 % in steps 30 to 34.` */
export const sentence = ({ after, before, difference: { ci95, mean } }: StepChangeView): string =>
  `The training reward changed by ${inPoints(mean, ci95)}, from ${percent(before.mean)} in ${steps(before)} to ${percent(after.mean)} in ${steps(after)}.` +
  (ci95 !== null && ci95[0] <= 0 && ci95[1] >= 0 ? " This may be chance." : "")

const steps = ({ from, to }: typeof Stretch.Type): string => (from === to ? `step ${from}` : `steps ${from} to ${to}`)
