/** Populations in memory, for tests and for servers whose populations nobody wants to keep. */
import { Journal, JournalError } from "@inspo/journal"
import * as sqlite from "@inspo/journal/sqlite"
import { Context, Effect, Layer } from "effect"
import { PopulationStore } from "./PopulationStore.ts"

/** Keeps populations as long as the layer lives, also while nobody holds them. */
export const layer: Layer.Layer<PopulationStore> = Layer.effect(
  PopulationStore,
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const journals = new Map<string, Journal.Interface>()
    const error = (name: string, reason: "exists" | "missing", detail: string) =>
      new JournalError({ reason, file: `:memory: ${name}`, sequence: null, detail })
    return {
      names: Effect.sync(() => Array.from(journals.keys())),
      make: Effect.fnUntraced(function* (name) {
        if (journals.has(name)) return yield* error(name, "exists", "it is there already; choose another name")
        const journal = Context.get(yield* Layer.buildWithScope(Layer.fresh(sqlite.layerMemory), scope), Journal)
        journals.set(name, journal)
        return journal
      }),
      open: Effect.fnUntraced(function* (name) {
        const journal = journals.get(name)
        return journal ?? (yield* error(name, "missing", "there is none; make it"))
      }),
      remove: (name) => Effect.sync(() => void journals.delete(name))
    }
  })
)
