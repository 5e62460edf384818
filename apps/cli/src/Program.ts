import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { main } from "./Cli.ts"
import * as StandardStreams from "./StandardStreams.ts"

StandardStreams.guard()

// The first signal stops a run cleanly, the second one immediately: committed work cannot be lost.
let asked = false
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    if (asked) process.exit(130)
    asked = true
  })

main.pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
