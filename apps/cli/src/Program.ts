import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { inspo, mainOf } from "./Cli.ts"
import * as StandardStreams from "./StandardStreams.ts"

StandardStreams.guard()

// The first signal stops a run cleanly, the second one immediately: committed work cannot be lost.
const signals = ["SIGINT", "SIGTERM"] as const
const unhandle = () => {
  for (const signal of signals) process.removeAllListeners(signal)
}
let asked = false
for (const signal of signals)
  process.on(signal, () => {
    if (asked) process.exit(130)
    asked = true
  })
// An exit waits for the threads of open calls, so a signal must still be able to end it.
process.on("exit", unhandle)

mainOf(inspo).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
