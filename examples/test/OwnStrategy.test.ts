import { assert, describe, it } from "@effect/vitest"
import { Instruction } from "@inspo/domain"
import { Population } from "@inspo/population"
import { Removal } from "@inspo/successive-halving"
import { Effect, Schema } from "effect"
import { readFileSync } from "node:fs"
import { layer } from "../own-strategy/DropTheLast.ts"

const Values = Schema.Array(Schema.Literals([0, 0.3, 0.5, 1])).check(Schema.isMaxLength(7))

const instruction = (index: number) => Instruction.make(`instruction ${index}`, { id: `i${index}` })

describe("a strategy of one's own", () => {
  it.effect.prop("drops one that none is worse than, and leaves the parents", [Values], ([values]) =>
    Effect.gen(function* () {
      const { prune } = yield* Removal.Removal
      const population = Population.begin(values.map((_, index) => instruction(index)))
      const valued = values.map((value, index) => ({ id: instruction(index).id, value }))
      const { kept, pruned } = prune(population, valued)
      assert.strictEqual(pruned.length, values.length > 2 ? 1 : 0)
      assert.strictEqual(kept.length + pruned.length, values.length)
      for (const { value } of pruned) assert.strictEqual(value, Math.min(...values))
    }).pipe(Effect.provide(layer(2)))
  )

  it("is what the guide shows", () => {
    const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")
    assert.include(read("docs/how-to/own-strategy.md"), read("examples/own-strategy/DropTheLast.ts").trimEnd())
  })
})
