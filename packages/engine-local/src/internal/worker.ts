import { parentPort, workerData } from "node:worker_threads"
import * as Decoder from "./Decoder.ts"
import * as Evaluator from "./Evaluator.ts"
import type { TaskMessage, WorkerData } from "./Protocol.ts"

const port = parentPort
if (port === null) throw new Error("this module runs as a worker")

const data: WorkerData = workerData
const evaluate = Evaluator.make(data)
const sample = Decoder.make(data)

port.on("message", async (message: TaskMessage) => {
  try {
    const reply = message.task === "evaluate" ? await evaluate(message.request) : await sample(message.request)
    port.postMessage({ reply })
  } catch (error) {
    port.postMessage({ error: error instanceof Error ? error.message : String(error) })
  }
})
