/** Test questions along training: every checkpoint that a run kept answers them once the run is over. */
import type { TestPoint } from "../src/Host.ts"
import { Conclusion, foldStored } from "@inspo/coevolution"
import { Array as Arr, Effect, Option } from "effect"
import { loadData } from "../../../apps/cli/src/config/Data.ts"
import { CommandFailure } from "../../../apps/cli/src/Failure.ts"
import { readRun } from "../../../apps/cli/src/runDirectory/Read.ts"
import type { Reporter } from "../../../apps/cli/src/terminal/Reporter.ts"
import { Bootstrap } from "@inspo/statistics"
import { valid } from "../../../apps/cli/src/eval/Outcome.ts"
import { answer, given } from "../../../apps/cli/src/eval/EvalArm.ts"

/** EM on the first test questions after the steps of the checkpoints, each under the instruction that was best then. */
export const test = Effect.fn("Along.test")(function* (runDir: string, count: number, reporter: Reporter) {
  const { config, events } = yield* readRun(runDir)
  const loaded = yield* loadData(config)
  const { checkpoints } = yield* foldStored({ algorithm: config }, events)
  return yield* Effect.forEach(checkpoints, ({ checkpoint, step }) =>
    Effect.gen(function* () {
      const saved = events.findIndex((event) => event._tag === "CheckpointSaved" && event.step === step)
      const state = yield* foldStored({ algorithm: config }, events.slice(0, saved + 1))
      const instruction = Option.getOrElse(Conclusion.leader(config, state), () => given(config.seedInstruction))
      const side = { runDir, policy: "after", step, instruction, config, checkpoint, loaded } as const
      const outcomes = yield* answer(side, {
        questions: Arr.take(loaded.data.test, count),
        passages: loaded.passages,
        seed: config.randomSeed,
        reporter
      })
      const em = Bootstrap.meanOf(valid(outcomes).map((one) => one.em))
      if (em === null)
        return yield* new CommandFailure({
          problem: `All test questions to the checkpoint of step ${step} of ${runDir} failed: a tool or the reward returned no answer.`
        })
      return { step, em } satisfies TestPoint
    })
  )
})
