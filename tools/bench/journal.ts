/**
 * Times the journal:
 *
 * - a step of 2,560 trajectories × 1,500 tokens, ten steps in a row, and how large a trajectory is on the disk;
 * - everything that a default run writes, written again, as a share of the time of that run.
 *
 *     node tools/bench/journal.ts [preset or directory of a finished run]
 *
 * The first line is JSON, a table follows. Exits with 1 when a limit is missed.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Journal } from "@inspo/journal"
import { layer } from "@inspo/journal/sqlite"
import { Array as Arr, Clock, Effect } from "effect"
import { shape, trajectory } from "./journal/Trajectory.ts"
import { print, processorSeconds } from "./Measure.ts"

/** A preset to run, or an existing run. */
const subject = process.argv[2] ?? "quick"
const scale = { trajectories: 2560, ...shape, steps: 10 }
const limits = { commitSeconds: 3, growth: 1.5, share: 0.03 }

const directory = mkdtempSync(join(tmpdir(), "inspo-bench-"))

const seconds = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = yield* Clock.currentTimeNanos
    yield* work
    return Number((yield* Clock.currentTimeNanos) - before) / 1e9
  })

const commits = Effect.gen(function* () {
  const file = join(directory, "commits.sqlite")
  const times: Array<number> = []
  const processor: Array<number> = []
  let bytes = 0
  yield* Effect.gen(function* () {
    const journal = yield* Journal
    for (let step = 1; step <= scale.steps; step++) {
      const rows = Arr.makeBy(scale.trajectories, (index) => trajectory(step, index))
      bytes += rows.slice(0, 20).reduce((total, { value }) => total + JSON.stringify(value).length, 0) / 20
      const before = processorSeconds()
      times.push(yield* seconds(journal.putRecords("trajectory", step, rows)))
      processor.push(processorSeconds() - before)
    }
  }).pipe(Effect.provide(layer({ file, mode: "create" })))
  const early = Math.max(...processor.slice(0, 3))
  return {
    commitSeconds: times.map((time) => round(time, 2)),
    processorSeconds: processor.map((time) => round(time, 2)),
    growth: round(Math.max(...processor.slice(-3)) / early, 2),
    kilobytesPerTrajectory: {
      json: round(bytes / scale.steps / 1000, 1),
      stored: round(statSync(file).size / scale.steps / scale.trajectories / 1000, 1)
    }
  }
})

/** The seconds of a run; of an existing run, as it recorded them. */
const runSecondsOf = (out: string) => {
  if (out === subject) {
    const last = readFileSync(join(out, "timings.jsonl"), "utf8").trim().split("\n").at(-1) ?? ""
    return Effect.succeed(Number(JSON.parse(last).seconds))
  }
  const main = fileURLToPath(new URL("../../apps/cli/src/main.ts", import.meta.url))
  const args = [main, "run", "--preset", subject, "--no-baseline", "--quiet", "--out", out]
  return seconds(
    Effect.sync(() => {
      const { status } = spawnSync(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] })
      if (status !== 0) throw new Error(`the run of preset ${subject} failed`)
    })
  )
}

/** A real run, and the time to write its journal again in as many commits. */
const run = Effect.gen(function* () {
  const out = existsSync(join(subject, "journal.sqlite")) ? subject : join(directory, "run")
  const runSeconds = yield* runSecondsOf(out)
  const { events, records } = yield* Effect.gen(function* () {
    const journal = yield* Journal
    const kinds = yield* journal.recordKinds
    const records = yield* Effect.forEach(kinds, (kind) =>
      Effect.map(journal.listRecords(kind), (rows) => ({ kind, rows }))
    )
    return { events: yield* journal.read, records }
  }).pipe(Effect.provide(layer({ file: join(out, "journal.sqlite"), mode: "read-only" })))

  // Rollouts are reserved together, and stored and settled with those that end in the same half second: about 100 in this run.
  const lot = 100
  const journalSeconds = yield* Effect.gen(function* () {
    const journal = yield* Journal
    return yield* seconds(
      Effect.gen(function* () {
        for (const event of events) yield* journal.append([event])
        for (const { kind, rows } of records)
          for (const [step, ofStep] of Map.groupBy(rows, ({ step }) => step))
            for (const some of Arr.chunksOf(ofStep, lot)) {
              const amounts = { rollouts: 1, tokens: 100, calls: 0, usd: 0, seconds: 0 }
              const ids = yield* journal.reserve(some.map(({ key }) => ({ ...amounts, phase: kind, key })))
              yield* journal.putRecords(kind, step, some)
              yield* journal.settle(ids.map((id) => ({ ...amounts, id })))
            }
      })
    )
  }).pipe(Effect.provide(layer({ file: join(directory, "again.sqlite"), mode: "create" })))
  return {
    subject,
    events: events.length,
    records: records.reduce((total, { rows }) => total + rows.length, 0),
    runSeconds: round(runSeconds, 1),
    journalSeconds: round(journalSeconds, 2),
    share: round(journalSeconds / runSeconds, 4)
  }
})

const round = (value: number, digits: number): number => Math.round(value * 10 ** digits) / 10 ** digits

const result = await Effect.runPromise(
  Effect.all({ commits, run }).pipe(Effect.ensuring(Effect.sync(() => rmSync(directory, { recursive: true }))))
)
const slowest = Math.max(...result.commits.commitSeconds)
const fastest = Math.min(...result.commits.commitSeconds)
const missed = [
  ...(fastest > limits.commitSeconds
    ? [`a step commits in ${fastest} s at best, expected at most ${limits.commitSeconds}`]
    : []),
  ...(result.commits.growth > limits.growth
    ? [`the last commits take ${result.commits.growth} times the processor time of the first`]
    : []),
  ...(result.run.share > limits.share
    ? [`the journal takes ${result.run.share} of a run, expected at most ${limits.share}`]
    : [])
]
print(
  { ...result, missed },
  [
    `commit of ${scale.trajectories} trajectories × ${scale.promptTokens + scale.responseTokens} tokens   ${fastest} to ${slowest} s, in a row ${result.commits.commitSeconds.join(" ")}`,
    `one trajectory   ${result.commits.kilobytesPerTrajectory.json} kB as JSON, ${result.commits.kilobytesPerTrajectory.stored} kB stored`,
    `a run of ${subject}   ${result.run.runSeconds} s, of which ${result.run.journalSeconds} s for ${result.run.events} events and ${result.run.records} records: ${(100 * result.run.share).toFixed(2)} %`,
    ...missed.map((reason) => `MISSED: ${reason}`)
  ],
  missed.length === 0
)
