import { Schema } from "effect"
import { afterAll, assert, describe, it } from "vitest"
import { endAll, inspo, testTimeout } from "./Inspo.ts"

afterAll(endAll)

const cwd = import.meta.dirname

const Rows = Schema.fromJsonString(
  Schema.Array(
    Schema.Struct({
      name: Schema.NonEmptyString,
      family: Schema.NonEmptyString,
      formula: Schema.NonEmptyString,
      source: Schema.NonEmptyString,
      certainty: Schema.Literals(["code", "text", "part"]),
      setting: Schema.NullOr(Schema.String)
    })
  )
)

describe("inspo methods", { timeout: testTimeout }, () => {
  it("lists every method with its source and certainty", async () => {
    const rows = Schema.decodeSync(Rows)((await inspo(["methods", "--json"], { cwd })).stdout)
    assert.isAtLeast(rows.length, 45)
    assert.strictEqual(new Set(rows.map(({ family, name }) => `${family} ${name}`)).size, rows.length)
    const { stdout } = await inspo(["methods"], { cwd })
    for (const { name } of rows) assert.include(stdout, name)
  })
})
