import { parentPort, workerData } from "node:worker_threads"
import * as Decoder from "./Decoder.ts"
import * as Evaluator from "./Evaluator.ts"
import * as Policies from "./Policies.ts"
import type { TaskMessage, WorkerData } from "./Protocol.ts"

const port = parentPort
if (port === null) throw new Error("this module runs as a worker")

const data: WorkerData = workerData
const policies = Policies.make(data, await Policies.readsShared(data.probe))
const evaluate = Evaluator.make(data, policies.parameters)
const sample = Decoder.make(data, policies.parameters.current)

port.on("message", async (message: TaskMessage) => {
  try {
    policies.renew()
    const reply = message.task === "evaluate" ? await evaluate(message.request) : await sample(message.request)
    port.postMessage({ reply })
  } catch (error) {
    port.postMessage({ error })
  }
})
