import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Group } from "@inspo/domain"
import { Console, Effect, FileSystem } from "effect"
import { customRun } from "./CustomRun.ts"

const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectory({ prefix: "inspo-custom-" })
  const { instructions } = yield* customRun({
    folder,
    onEvent: (event) =>
      event._tag === "RolloutsCollected"
        ? Console.log(
            `step ${event.step}: ${event.groups.map((group) => Group.meanReward(group).toFixed(2)).join(" ")}`
          )
        : Effect.void
  })
  yield* Console.log(`${instructions.length} instructions were tried. The journal is ${folder}/journal.sqlite.`)
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
