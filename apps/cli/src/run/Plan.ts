import * as Plan from "@inspo/coevolution/Plan"
import * as Strategies from "@inspo/coevolution/Strategies"
import { Effect, Schema } from "effect"
import { loadData } from "../config/Data.ts"
import { fromInput, type Input } from "../config/Input.ts"
import { Check } from "../preflight/Check.ts"
import * as Preflight from "../preflight/Preflight.ts"
import { planLines } from "../report/PlanReport.ts"
import * as PolicyPlan from "../report/PolicyPlan.ts"
import * as Reporter from "../terminal/Reporter.ts"

export interface PlanInput extends Input {
  readonly json: boolean
}

/** Shows what a run with these settings would do and spend, and whether it could start; starts nothing. */
export const plan = Effect.fn("Plan.plan")(function* (input: PlanInput) {
  const config = yield* fromInput(input)
  const { data } = yield* loadData(config)
  const forecast = Plan.forecast(Strategies.deciding(config), {
    train: data.train.map(({ dataSource, id }) => ({ id, dataSource })),
    validation: data.validation.length,
    test: data.test.length
  })
  const policy = PolicyPlan.make(config, forecast, data.train)
  const checks = yield* Preflight.look(config)
  yield* Reporter.print(input.json, encode({ ...forecast, policy, checks }), (columns) =>
    planLines(config, forecast, policy, checks, columns)
  )
  yield* Preflight.assertReady(checks)
})

const encode = Schema.encodeSync(
  Schema.Struct({
    ...Plan.Plan.fields,
    policy: Schema.NullOr(PolicyPlan.PolicyPlan),
    checks: Schema.Array(Check)
  })
)
