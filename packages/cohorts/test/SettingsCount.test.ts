import { assert, describe, it } from "@effect/vitest"
import { Settings } from "@inspo/cohorts"
import { Algorithm } from "@inspo/coevolution"
import { Settings as Shared } from "@inspo/evolution"

/** A schema of a struct, which is a function with its fields. */
const isSection = (field: unknown): field is { readonly fields: Readonly<Record<string, unknown>> } =>
  (typeof field === "function" || typeof field === "object") && field !== null && "fields" in field

/** The dotted paths of the settings of a schema, with those in its sections. */
const paths = (fields: Readonly<Record<string, unknown>>, prefix = ""): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([name, field]) =>
    isSection(field) ? paths(field.fields, `${prefix}${name}.`) : [`${prefix}${name}`]
  )

describe("the settings of runs and of served populations", () => {
  const [run, served, shared] = [Algorithm, Settings.Settings, Shared].map(({ fields }) => new Set(paths(fields)))

  it("are no more than 110 together", () => {
    assert.include([...(served ?? [])], "sampler.seedShare")
    assert.isAtMost(new Set([...(run ?? []), ...(served ?? [])]).size, 110)
  })

  it("have one name where they are shared, and only there", () => {
    const both = [...(run ?? [])].filter((path) => served?.has(path) === true)
    assert.deepStrictEqual(both.toSorted(), [...(shared ?? [])].toSorted())
  })
})
