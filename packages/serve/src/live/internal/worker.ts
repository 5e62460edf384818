/** The thread that redacts texts, so that requests without texts do not wait for it. */
import { parentPort } from "node:worker_threads"
import { RE2JS } from "re2js"
import { redact } from "./redact.ts"
import type { Reply, Task } from "../Redactor.ts"

const port = parentPort
if (port === null) throw new Error("this module runs as a worker")

const known = new Map<string, (text: string) => string>()

/** A compiled pattern that has seen many texts holds some megabytes, so only the most recently used ones are kept. */
const most = 16

const redactionOf = (patterns: ReadonlyArray<string>) => {
  const name = JSON.stringify(patterns)
  const redaction = known.get(name) ?? redact(patterns.map((one) => RE2JS.compile(one)))
  known.delete(name)
  known.set(name, redaction)
  for (const oldest of known.keys()) if (known.size > most) known.delete(oldest)
  return redaction
}

port.on("message", ({ id, patterns, texts }: Task) => {
  const reply: Reply = { id, texts: texts.map(redactionOf(patterns)) }
  port.postMessage(reply)
})
