/** The thread that blackens texts, so that nobody waits for that who tells none. */
import { parentPort } from "node:worker_threads"
import { RE2JS } from "re2js"
import { blacken } from "./redact.ts"
import type { Reply, Task } from "../Redactor.ts"

const port = parentPort
if (port === null) throw new Error("this module runs as a worker")

const known = new Map<string, (text: string) => string>()

/** A pattern that has met many texts holds some megabytes, so those that were asked for last are kept. */
const most = 16

const redactOf = (patterns: ReadonlyArray<string>) => {
  const name = JSON.stringify(patterns)
  const redact = known.get(name) ?? blacken(patterns.map((one) => RE2JS.compile(one)))
  known.delete(name)
  known.set(name, redact)
  for (const oldest of known.keys()) if (known.size > most) known.delete(oldest)
  return redact
}

port.on("message", ({ id, patterns, texts }: Task) => {
  const reply: Reply = { id, texts: texts.map(redactOf(patterns)) }
  port.postMessage(reply)
})
