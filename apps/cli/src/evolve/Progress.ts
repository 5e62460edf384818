/** The progress of a search in one line. */
import type { Progress } from "@inspo/evolve"
import { dollars } from "@inspo/evolve/SearchView"
import { count, plural, points } from "@inspo/report"

/** `isPriced` says whether the prices are known. */
export const line = (
  { budget, calls, gain, phase, prompts, usd }: Omit<Progress, "leader">,
  isPriced: boolean
): string =>
  [
    phase === "done" ? "done" : phase === "test" ? "testing" : "searching",
    `${count(calls)} of ${count(budget)} calls`,
    ...(isPriced ? [dollars(usd)] : []),
    plural(prompts, "prompt"),
    ...(gain === null ? [] : [`best ${points(gain)} points`])
  ].join(" · ")

/** Whether a line of its own is due where lines cannot be renewed: at a new phase, and every tenth of the budget. */
export const isDue = (before: Progress | null, { budget, calls, phase }: Progress): boolean =>
  before === null ||
  phase !== before.phase ||
  Math.floor((10 * calls) / budget) > Math.floor((10 * before.calls) / budget)
