import type { Spent } from "@inspo/coevolution/RunState"
import { Effect, FileSystem, Schema } from "effect"
import { filesOf } from "./Files.ts"
import { appendFile, jsonLines } from "./Write.ts"

/**
 * One line of `timings.jsonl`: what is not reproducible. `session` is when the process began, in milliseconds since 1970;
 * `seconds` lie between that and the event; `rollouts` are those of the
 * whole run so far, and `rss` is the resident memory in bytes.
 */
export const Timing = Schema.Struct({
  session: Schema.Int,
  seconds: Schema.Finite,
  event: Schema.String,
  step: Schema.Int,
  rollouts: Schema.Int,
  rss: Schema.Int
})
export interface Timing extends Schema.Schema.Type<typeof Timing> {}

export const appendTiming = (directory: string, timing: Timing) =>
  appendFile(filesOf(directory).timings, jsonLines([timing]))

/** The line of an event, `seconds` after the process began. */
export const timing = (
  event: string,
  at: {
    readonly launchedAt: number
    readonly seconds: number
    readonly step: number
    readonly rollouts: Spent["rollouts"]
  }
): Timing => {
  const rollouts = at.rollouts.train + at.rollouts.verification + at.rollouts.evaluation
  return {
    session: at.launchedAt,
    seconds: at.seconds,
    event,
    step: at.step,
    rollouts,
    rss: process.memoryUsage.rss()
  }
}

/** Seconds that all sessions of a run took together, to the tenth; lines that a crash cut off are left out. */
export const wallSeconds = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const file = filesOf(directory).timings
  if (!(yield* fs.exists(file))) return 0
  const longest = new Map<number, number>()
  for (const line of (yield* fs.readFileString(file)).split("\n")) {
    const timing = decodeLine(line)
    if (timing._tag === "Some")
      longest.set(timing.value.session, Math.max(longest.get(timing.value.session) ?? 0, timing.value.seconds))
  }
  return Math.round(10 * [...longest.values()].reduce((total, seconds) => total + seconds, 0)) / 10
})

const decodeLine = Schema.decodeOption(Schema.fromJsonString(Timing))
