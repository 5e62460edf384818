import { assert, describe, it } from "@effect/vitest"
import { Settings, Strategies } from "@inspo/cohorts"
import { Removal } from "@inspo/successive-halving"
import { Effect, Layer } from "effect"

describe("the strategies of a served population", () => {
  const settings = Settings.online(1)

  it.effect("are those of its settings where the context has none", () =>
    Effect.map(Strategies.fromContext, (decides) => {
      const { admission, removal, valuation, verification } = Strategies.ofSettings(settings)
      const found = decides(settings)
      assert.deepStrictEqual(
        [found.admission, found.removal, found.valuation, found.verification].map(({ identity }) => identity),
        [admission, removal, valuation, verification].map(({ identity }) => identity)
      )
    })
  )

  it.effect("are replaced by the services of the context, one by one", () => {
    const mine = { ...Removal.bottomHalf(), identity: { name: "mine", parameters: {} } }
    return Effect.map(Strategies.fromContext, (decides) => {
      assert.strictEqual(decides(settings).removal, mine)
      assert.strictEqual(decides(settings).admission.identity.name, "evidence")
    }).pipe(Effect.provide(Layer.succeed(Removal.Removal, mine)))
  })
})
