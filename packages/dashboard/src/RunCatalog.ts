import type { Degradation } from "@inspo/coevolution"
import type { RunConfig } from "@inspo/config"
import type { Question } from "@inspo/domain"
import type { Journal, JournalError } from "@inspo/journal"
import { Context, type Effect, type Layer, Schema } from "effect"
import type { BaselineView } from "./view/OverviewView.ts"

/** Finds and opens runs without disturbing those that are being written. */
export class RunCatalog extends Context.Service<RunCatalog, RunCatalog.Interface>()("@inspo/dashboard/RunCatalog") {}

export declare namespace RunCatalog {
  export interface Interface {
    /** The present runs, the latest first. */
    readonly find: Effect.Effect<ReadonlyArray<RunPlace>>
    readonly open: (place: RunPlace) => Effect.Effect<RunSource, CatalogError>
  }
}

/** A run; `id` is its name in addresses. */
export interface RunPlace {
  readonly id: string
  readonly name: string
  readonly directory: string
}

export interface RunSource {
  readonly config: RunConfig
  readonly journal: Layer.Layer<Journal, JournalError>
  /** Texts and golden answers by question; empty if the data cannot be read any more. */
  readonly questions: Effect.Effect<ReadonlyMap<string, Question.Question>>
  /** Data of the run outside its journal. */
  readonly notes: Effect.Effect<RunNotes>
  readonly written: Effect.Effect<Written>
  /** The seconds of work up to the end of each step, summed over sessions; without those steps of which it is not known. */
  readonly seconds: Effect.Effect<ReadonlyMap<number, number>>
}

/** When the run was last written, without reading its journal. Times are in milliseconds since 1970; null if not known. */
export interface Written {
  /** Changes with each write; null if it is not known. */
  readonly version: string | null
  /** The time of the last event. */
  readonly at: number | null
  /** The last time the run was known to be running, also between events. */
  readonly alive: number | null
}

export interface RunNotes {
  readonly baseline: BaselineView | null
  readonly wallSeconds: number | null
  /** Failures outside the run that did not end it. */
  readonly degraded: ReadonlyArray<Degradation.Degradation>
}

export class CatalogError extends Schema.TaggedError<CatalogError>()("CatalogError", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}
