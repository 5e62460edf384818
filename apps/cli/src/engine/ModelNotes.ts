import { EngineError } from "@inspo/engine"
import type { ModelNotes } from "@inspo/engine-tinker"
import type { Journal, JournalError } from "@inspo/journal"
import { Effect } from "effect"

/** The kinds of records for the models that the engine of a run created and released. */
export const kinds = { took: "engine-model", gaveBack: "engine-model-released" } as const

/** The models of a run on its server, recorded in its journal: a resume releases what a killed session held. */
export const ofJournal = (journal: Journal["Service"]): ModelNotes.ModelNotes => {
  const note = (kind: string) => (model: string) =>
    Effect.mapError(journal.putRecords(kind, 0, [{ key: model, value: null }]), unnoted)
  return {
    held: Effect.gen(function* () {
      const gone = new Set((yield* journal.listKeys(kinds.gaveBack)).map(({ key }) => key))
      return (yield* journal.listKeys(kinds.took)).map(({ key }) => key).filter((key) => !gone.has(key))
    }).pipe(Effect.mapError(unnoted)),
    took: note(kinds.took),
    gaveBack: note(kinds.gaveBack)
  }
}

const unnoted = (cause: JournalError) => new EngineError({ operation: "start", reason: cause.message, cause })
