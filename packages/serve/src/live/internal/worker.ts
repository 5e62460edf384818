/** The thread that redacts texts, so that requests without texts do not wait for it. */
import { parentPort } from "node:worker_threads"
import type { Reply, Task } from "../Redactor.ts"
import { redaction } from "./redact.ts"

const port = parentPort
if (port === null) throw new Error("this module runs as a worker")

port.on("message", ({ id, patterns, texts }: Task) => {
  const reply: Reply = { id, texts: texts.map(redaction(patterns)) }
  port.postMessage(reply)
})
