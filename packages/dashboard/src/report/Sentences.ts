/** What the head of a report says, in HTML and in Markdown. */
import { measure } from "@inspo/reward"
import { capital, gain, gains, percent, plural } from "@inspo/report"
import type { RunRecord } from "../RunRecord.ts"
import type { turned } from "../projection/Changes.ts"
import { cellOf, finalCells, lastCell, type OverviewView } from "../view/OverviewView.ts"

/** The questions of the training and its reward. */
export const task = ({ config: { data, reward } }: RunRecord): string =>
  `task: ${data.questions === null ? "generated world" : (data.questions.split(/[/\\]/u).at(-1) ?? data.questions)}, scored by ${measure(reward)}`

/** The result in a few sentences, with instructions as `label` writes them. */
export const summary = (
  { baseline, best, cells, run, seed, trained }: OverviewView,
  label: (id: string) => string
): string => {
  const before = cellOf(cells, "before", "seed")
  const after = lastCell(cells)
  const steps = run.steps === null ? "" : ` of ${plural(run.steps, "step")}`
  const progress = `Seed ${run.seed ?? "–"}, ${run.steps === null ? plural(run.step, "step") : run.step}${steps}, ${plural(run.born, "instruction")}.`
  if (before === undefined || after === undefined)
    return `${progress} ${run.status === "finished" ? "The run was not evaluated." : "The run is not finished."}`
  const change = after.mean === before.mean ? "stayed at" : `${after.mean > before.mean ? "rose" : "fell"} to`
  const which =
    seed !== null && best !== null && seed.id === best.id
      ? "the seed instruction, which is still the best one"
      : best === null
        ? "the best instruction"
        : label(best.id)
  const each = gains(finalCells(cells)).map(
    ([of, gain]) => `${of === "training" ? "training" : "the instruction"} ${gain}`
  )
  const against =
    baseline === null
      ? ""
      : ` The seed alone, trained with the same budget, reaches ${percent(baseline.em)}; the difference to it is ` +
        `${gain(after, { mean: baseline.em, ...baseline })}.`
  return (
    `${capital(trained.measure)} on ${plural(after.n, "test question")} was ${percent(before.mean)} before training with the seed instruction, and ` +
    `${change} ${percent(after.mean)} after training, with ${which}` +
    `${each.length === 0 ? "" : `: ${each.join(", ")}`}.${against} ${progress}`
  )
}

/** How many test questions were answered better and worse than before. */
export const turnedWords = ({ better, of, worse }: NonNullable<ReturnType<typeof turned>>): string =>
  `Of ${plural(of, "test question")}, ${better} ${better === 1 ? "was" : "were"} answered better than before, and ${worse} worse.`
