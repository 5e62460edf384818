import type { RunState } from "@inspo/coevolution"
import { Array as Arr, Effect, FileSystem, Option, Schema, Stream } from "effect"
import { filesOf } from "./Files.ts"
import * as Regular from "./Regular.ts"
import { appendFile, jsonLines, readJsonLines } from "./Write.ts"

/**
 * One line of `timings.jsonl`, which is not reproducible. `session` is when the process began, in milliseconds since 1970;
 * `seconds` is the time from then to the event; `rollouts` are those of the
 * whole run so far, and `rss` is the resident memory in bytes.
 */
export const Timing = Schema.Struct({
  session: Schema.Int,
  // A line with more is left out, as one that is cut off.
  seconds: Schema.Finite.check(Schema.isBetween({ minimum: -1e9, maximum: 1e9 })),
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
    readonly rollouts: RunState.Spent["rollouts"]
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

/** The event of a line after which the lines before it no longer count beyond its step: that work is lost and repeated. */
const lostAccepted = "LostAccepted"

/** The line from which a run repeats the work after a step. */
export const accepted = (launchedAt: number, step: number): Timing => ({
  session: launchedAt,
  seconds: 0,
  event: lostAccepted,
  step,
  rollouts: 0,
  rss: 0
})

/** The last step in the lines since lost work was accepted. */
export const lastStep = Effect.fnUntraced(function* (directory: string) {
  const lines = yield* read(directory)
  return lines
    .slice(lines.findLastIndex(({ event }) => event === lostAccepted) + 1)
    .reduce((last, { step }) => Math.max(last, step), 0)
})

/** Total seconds of all sessions of a run, to the tenth. */
export const wallSeconds = Effect.fnUntraced(function* (directory: string) {
  const longest = new Map<number, number>()
  for (const { seconds, session } of yield* read(directory))
    longest.set(session, Math.max(longest.get(session) ?? 0, seconds))
  return Math.round(10 * [...longest.values()].reduce((total, seconds) => total + seconds, 0)) / 10
})

/** The seconds of all sessions up to the policy update of each step; steps without a readable line are left out. */
export const stepSeconds = Effect.fnUntraced(
  function* (directory: string) {
    const found = new Map<number, number>()
    let [session, before, within] = [0, 0, 0]
    for (const line of yield* read(directory)) {
      if (line.session !== session) [session, before, within] = [line.session, before + within, 0]
      within = Math.max(within, line.seconds)
      if (line.event === "StepTrained") found.set(line.step, before + line.seconds)
      // The steps after this one are repeated.
      if (line.event === lostAccepted) for (const step of found.keys()) if (step > line.step) found.delete(step)
    }
    return found
  },
  Effect.orElseSucceed((): ReadonlyMap<number, number> => new Map())
)

const read = (directory: string) => readJsonLines(filesOf(directory).timings, Timing)

/** When a run committed its last event, in milliseconds since 1970; null before the first one. */
export const lastEvent = Effect.fnUntraced(
  function* (directory: string) {
    const fs = yield* FileSystem.FileSystem
    const file = filesOf(directory).timings
    yield* Regular.assertRegular(file)
    // Only the end is read: lines are short, and the last one may be cut off.
    const offset = Math.max(0, Number((yield* fs.stat(file)).size) - tailBytes)
    const lines = (yield* Stream.mkString(Stream.decodeText(fs.stream(file, { offset })))).split("\n")
    return Arr.last(Arr.getSomes(lines.map((line) => decodeLine(line)))).pipe(
      Option.map(({ seconds, session }) => session + Math.round(1000 * seconds)),
      Option.getOrNull
    )
  },
  Effect.orElseSucceed(() => null)
)

/** Bytes at the end of the file that hold its last lines. */
const tailBytes = 4096

const decodeLine = Schema.decodeOption(Schema.fromJsonString(Timing))
