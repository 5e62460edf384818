import { Text, duration, percent } from "@inspo/report"
import { type Leader, timeLeft, type Progress } from "./Progress.ts"

/** The live view: a few lines of at most `columns` characters that are redrawn in place. */
export const view = (progress: Progress, columns: number): ReadonlyArray<string> => {
  const { leader } = progress
  const left = timeLeft(progress)
  const head = `step ${progress.step}/${progress.steps}`
  const tail = left === null ? "" : `${duration(left / 1000)} left`
  const room = Math.max(0, Math.min(40, columns - head.length - tail.length - 4))
  return [
    [head, bar(progress.done / Math.max(1, progress.planned), room), tail].filter((part) => part !== "").join("  "),
    `${training(progress)}   tool calls per question ${Text.decimal(progress.toolCalls)}` +
      (leader === null ? "" : `   population ${leader.population}`),
    ...(leader === null
      ? []
      : [
          `best ${leader.best.id}, ${value(leader)}, generation ${leader.best.generation}`,
          ...Text.paragraph(leader.best.text, "  ", columns).slice(0, 4)
        ]),
    ...(progress.degraded.length === 0 ? [] : [degraded(progress)]),
    progress.activity
  ].map((line) => Text.clip(line, columns))
}

/** One step as a plain line, for output that is not a live terminal. */
export const plain = (progress: Progress): string => {
  const left = timeLeft(progress)
  const { leader } = progress
  return [
    `step ${progress.step}/${progress.steps}`,
    training(progress),
    ...(leader === null ? [] : [`best ${leader.best.id} ${percent(leader.value)}`, `population ${leader.population}`]),
    `tool calls ${Text.decimal(progress.toolCalls)}`,
    ...(progress.degraded.length === 0 ? [] : [degraded(progress)]),
    ...(left === null ? [] : [`left ${duration(left / 1000)}`])
  ].join("  ")
}

const value = ({ value }: Leader): string => (value === null ? "not drawn lately" : `value ${percent(value)}`)

const degraded = (progress: Progress): string =>
  `degraded: ${progress.degraded.map(({ count, part }) => `${part} ${count}`).join(", ")}`

const training = ({ answers, measure, reward }: Progress): string =>
  `training ${measure} ${percent(reward)}${reward === null ? "" : ` (n = ${answers})`}`

const bar = (done: number, width: number): string => {
  const full = Math.round(Math.min(1, Math.max(0, done)) * width)
  return "━".repeat(full) + "─".repeat(width - full)
}
