import { basename, resolve } from "node:path"
import type { Degradation, RunEvent, RunState } from "@inspo/coevolution"
import { Ledger } from "@inspo/ledger"
import { Attach, Credentials, Gauges, Point, Tracker } from "@inspo/tracking"
import type { RunConfig } from "@inspo/config"
import { Journal, type JournalError } from "@inspo/journal"
import * as TensorBoard from "@inspo/tracking/TensorBoard"
import { Console, Effect, type FileSystem, Option, type Path, Ref, type Scope } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { leafPaths, valueAt } from "../config/Resolve.ts"
import { listen } from "../server/Listen.ts"
import type { OnEvent } from "../run/Execute.ts"
import type { Reporter } from "../terminal/Reporter.ts"
import * as Telemetry from "./Telemetry.ts"
import type { Tracker as Asked } from "./Trackers.ts"

export interface FollowOptions {
  readonly directory: string
  readonly config: RunConfig
  readonly past: ReadonlyArray<RunEvent>
  readonly trackers: ReadonlyArray<Asked>
  readonly reporter: Reporter
  /** Notes what a tracker missed. */
  readonly note: (facts: ReadonlyArray<Degradation.Degradation>) => Effect.Effect<void>
}

/** Passes events to trackers while the scope lives. No tracker can fail or delay the run. */
export const follow = Effect.fn("Tracking.follow")(function* (
  options: FollowOptions
): Effect.fn.Return<OnEvent, never, Scope.Scope | Journal | FileSystem.FileSystem | Path.Path> {
  const step = yield* Ref.make(0)
  const journal = yield* Journal
  const logs = yield* attachAll(options, Ref.get(step))
  const send = (point: Point.Point) => Effect.forEach(logs, (log) => log(point), { discard: true })
  // A journal that cannot be read fails the run elsewhere.
  const sendStored = <A>(stored: Effect.Effect<A, JournalError>, toPoint: (stored: A) => Point.Point) =>
    Effect.matchEffect(stored, { onSuccess: (found) => send(toPoint(found)), onFailure: () => Effect.void })

  return Effect.fnUntraced(function* (event: RunEvent, state: RunState.RunState) {
    yield* Ref.set(step, state.step)
    const point = Point.ofEvent(event, state)
    if (point !== null) yield* send(point)
    if (logs.length === 0) return
    if (event._tag === "RolloutsCollected") {
      const collected = event.groups.flatMap(({ trajectories }) => trajectories)
      yield* sendStored(journal.getRecords("trajectory", collected), (records) =>
        Point.ofTrajectories(event.step, records.values())
      )
    }
    if (event._tag === "StepTrained")
      yield* sendStored(journal.ledger, (totals) => Point.ofSpending(event.step, Ledger.summarize(totals).total))
  })
})

/** The settings of a run by dotted name, as text: what trackers show beside its metrics. Addresses lose their credentials. */
export const settingsOf = (config: RunConfig): Readonly<Record<string, string>> =>
  Object.fromEntries(
    leafPaths(config).map((name) => {
      const value = valueAt(config, name)
      return [name, Credentials.withoutCredentials(typeof value === "string" ? value : JSON.stringify(value))]
    })
  )

/** The history of earlier sessions grows with the run: nothing here outlives this call except the trackers. */
const attachAll = Effect.fnUntraced(function* (options: FollowOptions, step: Effect.Effect<number>) {
  const { config, directory, note, past, reporter, trackers } = options
  const shared = {
    run: { name: basename(resolve(directory)), settings: settingsOf(config) },
    past: Point.history({ algorithm: config }, past),
    warn: warning(reporter, note, step)
  }
  const wanted = [
    ...trackers.map((asked) => trackerOf(asked, { directory, reporter })),
    ...((yield* Telemetry.isWanted) ? [{ name: "OTLP", make: Gauges.make }] : [])
  ]
  return yield* Effect.forEach(wanted, (tracker) => Attach.attach({ ...shared, ...tracker }))
})

const warning = (
  reporter: Reporter,
  note: FollowOptions["note"],
  step: Effect.Effect<number>
): Attach.Options<never>["warn"] =>
  Effect.fnUntraced(function* (message) {
    yield* note([{ part: "tracker", step: yield* step, count: 1, message }])
    // A quiet reporter would not print it.
    yield* reporter.live ? reporter.lines([message]) : Console.error(message)
  })

type Opening = Pick<Attach.Options<FileSystem.FileSystem | Path.Path | Scope.Scope>, "name" | "make">

const trackerOf = (asked: Asked, { directory, reporter }: Pick<FollowOptions, "directory" | "reporter">): Opening => {
  switch (asked._tag) {
    case "TensorBoard":
      return { name: "TensorBoard", make: TensorBoard.make({ directory: `${directory}/tensorboard` }) }
    case "Prometheus":
      return { name: "Prometheus", make: Effect.andThen(serve(asked, reporter), Gauges.make) }
  }
}

const serve = Effect.fnUntraced(function* ({ host, port }: Extract<Asked, { _tag: "Prometheus" }>, reporter: Reporter) {
  const url = yield* listen(
    "Prometheus endpoint",
    { host, port, apiKeyEnv: Option.none() },
    PrometheusMetrics.layerHttp()
  ).pipe(Effect.mapError(({ message }) => new Tracker.TrackerError({ tracker: "Prometheus", reason: message })))
  yield* reporter.lines([`Metrics for Prometheus at ${url}/metrics`])
})
