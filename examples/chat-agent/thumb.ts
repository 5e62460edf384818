/** Reports a thumb on an answer, from any process: `node chat-agent/thumb.ts LEASE up|down [what was good or bad]`. */
import { Inspo } from "@inspo/client"

const [lease, thumb, feedback] = process.argv.slice(2)
if (lease === undefined || (thumb !== "up" && thumb !== "down"))
  throw new Error("pass a lease, and up or down: node chat-agent/thumb.ts LEASE up")

const { INSPO_KEY, INSPO_URL = "http://127.0.0.1:8700" } = process.env
const inspo = new Inspo({ urls: [INSPO_URL], ...(INSPO_KEY === undefined ? {} : { apiKey: INSPO_KEY }) })
await inspo.reward("support", { lease, value: thumb === "up" ? 1 : 0, ...(feedback === undefined ? {} : { feedback }) })
const pending = await inspo.flush()
process.stdout.write(pending === 0 ? "Thank you.\n" : "The server did not answer, so the thumb was not reported.\n")
process.exitCode = pending === 0 ? 0 : 1
