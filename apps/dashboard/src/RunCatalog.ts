import type { Degradation } from "@inspo/coevolution/Degradation"
import type { RunConfig } from "@inspo/config"
import type { Question } from "@inspo/domain"
import type { Journal, JournalError } from "@inspo/journal"
import { Context, type Effect, type Layer, Schema } from "effect"
import type { BaselineView } from "./view/OverviewView.ts"

/**
 * Where runs are found and how they are opened. The dashboard reads only: nothing it does can disturb a run that is being
 * written.
 */
export class RunCatalog extends Context.Service<RunCatalog, RunCatalog.Interface>()("@inspo/dashboard/RunCatalog") {}

export declare namespace RunCatalog {
  export interface Interface {
    /** The runs there are now, the latest first. */
    readonly find: Effect.Effect<ReadonlyArray<RunPlace>>
    readonly open: (place: RunPlace) => Effect.Effect<RunSource, CatalogError>
  }
}

/** A run by its name; `id` names it in addresses. */
export interface RunPlace {
  readonly id: string
  readonly name: string
  readonly directory: string
}

/** What there is to read of a run. */
export interface RunSource {
  readonly config: RunConfig
  readonly journal: Layer.Layer<Journal, JournalError>
  /** Texts and golden answers by question; none when the data cannot be read any more. */
  readonly questions: Effect.Effect<ReadonlyMap<string, Question.Question>>
  /** What is known of a run beyond its journal. */
  readonly notes: Effect.Effect<RunNotes>
  readonly written: Effect.Effect<Written>
}

/** What tells of a run's writing, without a look into its journal. Times are in milliseconds since 1970, null when not known. */
export interface Written {
  /** Differs whenever something was written since; null when that cannot be told. */
  readonly version: string | null
  /** When the run came to its last event. */
  readonly at: number | null
  /** When it last gave a sign of life, between events too. */
  readonly alive: number | null
}

export interface RunNotes {
  readonly baseline: BaselineView | null
  readonly wallSeconds: number | null
  /** What failed beside the run without ending it. */
  readonly degraded: ReadonlyArray<Degradation>
}

/** A run directory cannot be read as one. */
export class CatalogError extends Schema.TaggedError<CatalogError>()("CatalogError", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}
