import { assert, describe, it } from "@effect/vitest"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, Schema } from "effect"
import { ofJournal } from "../../src/engine/ModelNotes.ts"

const Model = Schema.Literals(["a", "b", "c"])
const Note = Schema.Struct({ model: Model, done: Schema.Literals(["took", "gaveBack"]) })

describe("notes of models", () => {
  it.effect.prop(
    "hold what was taken and not given back, in whatever session",
    [Schema.Array(Note)],
    ([notes]) =>
      Effect.gen(function* () {
        const journal = yield* Journal
        for (const { done, model } of notes) yield* ofJournal(journal)[done](model)
        const models = (done: string) => new Set(notes.filter((note) => note.done === done).map(({ model }) => model))
        const gone = models("gaveBack")
        const expected = [...models("took")].filter((model) => !gone.has(model))
        assert.sameMembers([...(yield* ofJournal(journal).held)], expected)
      }).pipe(Effect.provide(layerMemory, { local: true })),
    { arbitrary: { runs: 50 } }
  )
})
