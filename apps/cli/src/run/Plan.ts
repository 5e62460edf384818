import { Plan } from "@inspo/analysis"
import { Strategies } from "@inspo/coevolution"
import { Effect, Option, Schema } from "effect"
import { loadData } from "../config/Data.ts"
import { fromInput, type Input } from "../config/Input.ts"
import { agentOf } from "../layers.ts"
import { Check } from "../preflight/Check.ts"
import * as Preflight from "../preflight/Preflight.ts"
import { planLines } from "../report/PlanReport.ts"
import * as PolicyPlan from "../report/PolicyPlan.ts"
import * as ProbeReport from "../report/ProbeReport.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { JsonFlag } from "../commands/handler.ts"

export interface PlanInput extends Input {
  readonly probe: Option.Option<number>
}

/** Shows what a run with these settings would do and spend, and whether it could start; starts nothing but a probe. */
export const plan = Effect.fn("Plan.plan")(function* ({ probe, ...input }: PlanInput) {
  const config = yield* fromInput(input)
  const loaded = yield* loadData(config)
  const { data } = loaded
  const questions = {
    train: data.train.map(({ dataSource, id }) => ({ id, dataSource })),
    validation: data.validation.length,
    test: data.test.length
  }
  const forecast = Plan.forecast(Strategies.deciding(config), questions, agentOf(config))
  const policy = PolicyPlan.make(config, forecast, data.train)
  const checks = yield* Preflight.look(config)
  const print = (found: ProbeReport.Probe | null) =>
    Reporter.print(encode({ ...forecast, policy, checks, probe: found }), (columns) =>
      found === null ? planLines(config, forecast, policy, checks, columns) : ProbeReport.lines(found, columns)
    )
  const canProbe = Option.isSome(probe) && checks.every(({ status }) => status !== "failed")
  // With a probe, its result completes the only document.
  if (!(yield* JsonFlag) || !canProbe) yield* print(null)
  yield* Preflight.assertReady(checks)
  if (!canProbe) return
  const Probe = yield* Effect.promise(() => import("./Probe.ts"))
  const reporter = yield* Reporter.make()
  yield* print(yield* Probe.probe({ config, loaded, forecast, rollouts: probe.value, reporter }))
})

const encode = Schema.encodeSync(
  Schema.Struct({
    ...Plan.Plan.fields,
    policy: Schema.NullOr(PolicyPlan.PolicyPlan),
    checks: Schema.Array(Check),
    probe: Schema.NullOr(ProbeReport.Probe)
  })
)
