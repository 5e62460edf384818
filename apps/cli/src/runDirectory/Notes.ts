import type { RunNotes } from "@inspo/dashboard/RunCatalog"
import { Effect, type FileSystem } from "effect"
import { nothing, readOutcome } from "./Outcome.ts"
import { wallSeconds } from "./Timings.ts"

/** What is known of a run beyond its journal; what cannot be read is left out. */
export const runNotes = Effect.fnUntraced(function* (
  directory: string
): Effect.fn.Return<RunNotes, never, FileSystem.FileSystem> {
  const { baseline, degraded } = yield* Effect.orElseSucceed(readOutcome(directory), () => nothing)
  const seconds = yield* Effect.orElseSucceed(wallSeconds(directory), () => 0)
  return {
    baseline: baseline === null ? null : { em: baseline.em, ci95: baseline.ci95, rollouts: baseline.rollouts },
    wallSeconds: seconds === 0 ? null : seconds,
    degraded
  }
})
