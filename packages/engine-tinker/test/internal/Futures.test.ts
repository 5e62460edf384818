import { assert, describe, it } from "@effect/vitest"
import { Effect, Ref, Schema } from "effect"
import * as Futures from "../../src/internal/server/Futures.ts"

const Request = Schema.Struct({ slot: Schema.Literals(["a", "b", "c"]), owner: Schema.Literals(["s", "t"]) })

describe("Futures", () => {
  it.effect.prop(
    "do what must be done once no second time as long as its owner lives, however few outcomes are kept",
    [Schema.Array(Request), Schema.Literals([1, 2, 10]), Schema.Literals([1, 10])],
    ([requests, outcomes, numbers]) =>
      Effect.gen(function* () {
        const futures = Futures.make({ nonce: "n", retained: { outcomes, numbers }, open: 10 })
        const done = yield* Ref.make<ReadonlyArray<string>>([])
        const submit = ({ owner, slot }: typeof Request.Type) =>
          futures.submit({
            slot: `${owner}${slot}`,
            digest: "",
            once: true,
            owner,
            work: Effect.as(
              Ref.update(done, (names) => [...names, `${owner}${slot}`]),
              { _tag: "Json", value: {} }
            ),
            begin: (run) => run
          })
        const ids = yield* Effect.forEach(requests, submit)
        const names = requests.map(({ owner, slot }) => `${owner}${slot}`)
        assert.deepStrictEqual(yield* Ref.get(done), [...new Set(names)])
        names.forEach((name, at) => assert.strictEqual(ids[at], ids[names.indexOf(name)]))
        yield* futures.end("s")
        yield* submit({ owner: "s", slot: "a" })
        assert.strictEqual((yield* Ref.get(done)).at(-1), "sa")
      })
  )
})
