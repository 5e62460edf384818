/**
 * Times `Plan.forecast` and `WhatIf.ask` at the paper's scale: 300 steps of 512 groups × 5 rewards, synthetic rewards, and
 * settings that differ in τ_s.
 *
 *     node packages/coevolution/bench/whatif.ts [settings]
 */
import { Plan, WhatIf } from "@inspo/analysis"
import { Presets, Strategies } from "@inspo/coevolution"
import { Console, Duration, Effect, Result } from "effect"
import { syntheticLog, trainQuestions } from "../test/support/SyntheticLog.ts"

const settings = Number(process.argv[2] ?? 100)
const config = Presets.robust
const train = trainQuestions(1000)

const timed = <A>(name: string, compute: () => A) =>
  Effect.timed(Effect.sync(compute)).pipe(
    Effect.tap(([duration]) =>
      Console.log(`${name.padEnd(36)}${Duration.toSeconds(duration).toFixed(2).padStart(8)} s`)
    ),
    Effect.map(([, value]) => value)
  )

const program = Effect.gen(function* () {
  yield* timed("plan", () => Plan.forecast(Strategies.deciding(config), { train, validation: 100, test: 500 }))
  const log = syntheticLog(config, train.length)
  const opened = yield* Effect.fromResult(
    yield* timed("whatif: read the log", () => WhatIf.open(Strategies.deciding(config), log))
  )
  yield* timed(`whatif: ${settings} settings`, () =>
    Array.from({ length: settings }, (_, index) =>
      Result.isSuccess(
        WhatIf.ask(
          opened,
          Strategies.deciding({ ...config, selection: { ...config.selection, temperature: 0.15 + index / 1000 } })
        )
      )
    )
  )
})

await Effect.runPromise(program)
