/** Where the metrics of a run go while it lasts. */
import { Context, type Effect, Schema } from "effect"
import type { Point } from "./Point.ts"

/** What a tracker gets of a run before its metrics. */
export interface Run {
  readonly name: string
  /** The settings by dotted name, as text and without credentials. */
  readonly settings: Readonly<Record<string, string>>
}

/** How a session of a run ended. A stopped run may continue another day. */
export type Outcome = "finished" | "failed" | "stopped"

/** A tracker could not take something; `reason` says what was wrong and how to fix it, without secrets. */
export class TrackerError extends Schema.TaggedError<TrackerError>()("TrackerError", {
  tracker: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.tracker}: ${this.reason}`
  }
}

export interface Interface {
  /** Called first. `past` is what earlier sessions of the run measured, for trackers that cannot keep it themselves. */
  readonly begin: (run: Run, past: ReadonlyArray<Point>) => Effect.Effect<void, TrackerError>
  readonly log: (point: Point) => Effect.Effect<void, TrackerError>
  /** Called last, once everything was logged. */
  readonly end: (outcome: Outcome) => Effect.Effect<void, TrackerError>
}

/** One tracker: TensorBoard, or the metrics that Prometheus and OTLP read. */
export class Tracker extends Context.Service<Tracker, Interface>()("@inspo/tracking/Tracker") {}
