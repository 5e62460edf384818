/** The progress of a search or a comparison in one line. */
import type { Progress } from "@inspo/evolve"
import { dollars, lost } from "@inspo/evolve/SearchView"
import { count, plural, points, Text } from "@inspo/report"
import { Effect, Queue, Ref } from "effect"
import type * as Reporter from "../terminal/Reporter.ts"

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

/** Shows progress from a callback: one line that is renewed on a terminal, else a line now and then. */
export const following = Effect.fnUntraced(function* <P extends Pick<Progress, "lost">>(
  reporter: Reporter.Reporter,
  { isDue, line }: { readonly line: (progress: P) => string; readonly isDue: (before: P | null, now: P) => boolean }
) {
  const queue = yield* Queue.unbounded<P>()
  const last = yield* Ref.make<P | null>(null)
  const show = Effect.fnUntraced(function* (progress: P) {
    const before = yield* Ref.getAndSet(last, progress)
    if (before === null && progress.lost.calls > 0) yield* reporter.lines([lost(progress.lost)])
    if (reporter.live) yield* reporter.block([Text.clip(line(progress), reporter.columns)])
    else if (isDue(before, progress)) yield* reporter.lines([line(progress)])
  })
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(queue), show)))
  return {
    observe: (progress: P): void => {
      Queue.offerUnsafe(queue, progress)
    },
    /** Shows what is left, and takes the line away. */
    end: Effect.andThen(
      Effect.flatMap(Queue.clear(queue), (rest) => Effect.forEach(rest, show, { discard: true })),
      reporter.block([])
    )
  }
})
