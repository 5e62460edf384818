import { parentPort, workerData } from "node:worker_threads"
import * as Decoder from "./Decoder.ts"
import * as Evaluator from "./Evaluator.ts"
import * as Policies from "./Policies.ts"
import type { TaskMessage, WorkerData } from "./Protocol.ts"

const port = parentPort
if (port === null) throw new Error("this module runs as a worker")

const data: WorkerData = workerData

const prepare = async () => {
  const policies = Policies.make(data, await Policies.readsShared(data.probe))
  const evaluate = Evaluator.make(data, policies.parameters)
  const sample = Decoder.make(data, policies.parameters.sampled)
  return (message: TaskMessage) => {
    policies.renew(message.task === "evaluate" ? ["current", "reference"] : ["sampled"])
    return message.task === "evaluate" ? evaluate(message.request) : sample(message.request)
  }
}

const ready = prepare()

// Registered before the first await: Deno drops messages that arrive before there is a listener.
port.on("message", async (message: TaskMessage) => {
  const perform = await ready
  try {
    const reply = await perform(message)
    port.postMessage({ reply })
  } catch (error) {
    port.postMessage({ error })
  }
})
