import { assert, describe, it } from "@effect/vitest"
import { create, Refused, Settings } from "@inspo/cohorts"
import * as fc from "fast-check"
import { Server } from "./support/Server.ts"

const online = Settings.online(1)

describe("a new population", () => {
  it.each([
    ["selection.risk", { ...online, selection: { ...online.selection, risk: 7 } }, "7"],
    ["selection.risk", { ...online, selection: { ...online.selection, risk: 0 } }, "0"],
    ["selection.risk", { ...online, selection: { ...online.selection, risk: NaN } }, "NaN"],
    ["rewardRange", { ...online, rewardRange: [1, 0] as const }, "[1,0]"],
    ["sampler.newcomerShare", { ...online, sampler: { ...online.sampler, newcomerShare: -1 } }, "-1"],
    ["population.size", { ...online, population: { size: 0, parents: 1 } }, "0"],
    ["sealAfterSeconds", { ...online, sealAfterSeconds: -60 }, "-60"]
  ] as const)("is refused with %s out of range, by name and value", (field, settings, value) => {
    assert.throws(() => create(settings, ["Be brief."]), new RegExp(`^cohorts.create: ${field} is .*; expected `, "u"))
    try {
      create(settings, ["Be brief."])
    } catch (error) {
      assert.include(String(error), value)
    }
  })

  it("begins with the settings of both profiles", () => {
    for (const settings of [online, Settings.trainer(1)])
      assert.deepStrictEqual(create(settings, ["Be brief."]).state.settings, settings)
  })
})

describe("an added instruction", () => {
  const text = fc.string({ minLength: 1 })
  const content = fc.oneof(text, fc.dictionary(fc.constantFrom("system", "tool", "other"), text, { minKeys: 1 }))
  const names = (one: string | object) => (typeof one === "string" ? "" : Object.keys(one).sort().join())

  it("is refused unless it has the texts of the seed", () =>
    fc.assert(
      fc.property(content, content, (seed, added) => {
        const done = new Server(online, [seed]).try({ _tag: "Add", now: 0, content: added, parent: null })
        assert.strictEqual(done instanceof Refused, names(seed) !== names(added))
        if (done instanceof Refused) assert.deepInclude(done, { code: "invalid", field: "wording" })
      })
    ))
})
