import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect } from "effect"
import { choose } from "./ChooseAPrompt.ts"
import { converse, prompts } from "./ScriptedBot.ts"

const program = Effect.gen(function* () {
  const rankings = yield* choose({ prompts, converse, steps: 25, conversationsPerStep: 40, seed: 1 })
  for (const { left, step } of rankings) {
    const [best] = left
    if (step % 5 === 0 && best !== undefined)
      yield* Console.log(
        `step ${step}: ${left.length} left, best with probability ${best.chance.toFixed(2)}, ${Math.round(100 * best.value)} % helped: ${best.prompt}`
      )
  }
})

NodeRuntime.runMain(program)
