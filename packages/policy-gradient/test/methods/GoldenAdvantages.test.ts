import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { estimators, furtherEstimators } from "../../src/Advantage.ts"
import type { Group } from "../../src/Estimator.ts"
import { close } from "../support/Batches.ts"

const Numbers = Schema.Array(Schema.Finite)
const Rollouts = Schema.Struct({
  rewards: Schema.optionalKey(Numbers),
  lengths: Schema.optionalKey(Numbers),
  answers: Schema.optionalKey(Schema.Array(Schema.String)),
  firstCalls: Schema.optionalKey(Schema.Array(Schema.NullOr(Schema.Finite))),
  kinds: Schema.optionalKey(Schema.Array(Numbers)),
  budgets: Schema.optionalKey(Numbers),
  confidence: Schema.optionalKey(Schema.Array(Schema.Struct({ prompt: Schema.Finite, answer: Schema.Finite })))
})
const Case = Schema.Struct({
  input: Schema.Struct({
    ...Rollouts.fields,
    groups: Schema.optionalKey(Schema.Array(Rollouts)),
    constants: Schema.optionalKey(Schema.Record(Schema.String, Schema.Union([Schema.Finite, Schema.Boolean, Numbers])))
  }),
  output: Schema.Union([Numbers, Schema.Array(Numbers)])
})
const Golden = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Array(Case)))

/** Values of an executable reference of the formulas that was written apart from this package. */
const golden = Schema.decodeSync(Golden)(readFileSync(new URL("golden-advantages.json", import.meta.url), "utf8"))

const toGroup = (given: typeof Rollouts.Type): Group => {
  const rewards = given.rewards ?? given.kinds?.[0]?.map(() => 0) ?? []
  return rewards.map((reward, index) => ({
    reward,
    length: given.lengths?.[index] ?? 1,
    answer: given.answers?.[index] ?? null,
    firstCall: given.firstCalls?.[index] ?? null,
    ...(given.kinds === undefined ? {} : { rewards: given.kinds.map((kind) => kind[index] ?? 0) }),
    ...(given.budgets?.[index] === undefined ? {} : { budget: given.budgets[index] }),
    ...(given.confidence?.[index] === undefined ? {} : { confidence: given.confidence[index] })
  }))
}

describe("golden values of advantages", () => {
  it.each(Object.entries(golden).map(([name, cases]) => ({ name, cases })))("$name", ({ cases, name }) => {
    const estimator = [...estimators, ...furtherEstimators].find((one) => one.name === name)
    assert.isDefined(estimator)
    for (const { input, output } of cases) {
      const groups = (input.groups ?? [input]).map(toGroup)
      close(estimator.ofBatch(groups, input.constants).flat(), output.flat())
    }
  })
})
