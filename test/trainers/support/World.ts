/** `inspo serve` with a population whose instructions matter, and a model that proposes the best one. */
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Schema } from "effect"
import { inspoServer } from "../../cli/Inspo.ts"

/** The folder of the client, for PYTHONPATH, and the scripts that act as trainers. */
export const client = fileURLToPath(new URL("../../../clients/python/src", import.meta.url))
export const script = (name: string): string => fileURLToPath(new URL(`../python/${name}`, import.meta.url))

/** The page whose programs are run. */
export const guide = fileURLToPath(new URL("../../../docs/how-to/trainers.md", import.meta.url))

/** By `world.py` means of .1, .6 and .1; what the model proposes has .9. */
export const seed = "Answer the question."
export const variants = ["Answer the question briefly.", "Answer the question with a guess."]
export const best = "Answer the question from sources."

/** A high risk, so that some 25 cohorts of 16 groups decide. */
export const settings = {
  population: { size: 4 },
  schedule: { pruneEvery: 2, evolveEvery: 4, evolveUntil: 4 },
  selection: { risk: 0.2 },
  randomSeed: 1
}

const population = { profile: "trainer", seed, variants, settings }

/** Makes another population of the same kind. */
export const make = async (url: string, name: string): Promise<void> => {
  const response = await fetch(`${url}/v1/populations/${name}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(population)
  })
  if (!response.ok) throw new Error(await response.text())
}

export interface World {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Serves the population `policy` in a directory until it is stopped. */
export const start = async (cwd: string): Promise<World> => {
  const model = createServer((_, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(
      JSON.stringify({
        choices: [{ message: { content: `<ins_1>${best}</ins_1>` }, finish_reason: "stop" }],
        usage: { prompt_tokens: 10, completion_tokens: 10 }
      })
    )
  ).listen(0, "127.0.0.1")
  await once(model, "listening")
  const address = model.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  await writeFile(
    join(cwd, "served.json"),
    JSON.stringify({
      proposer: { model: `http://127.0.0.1:${port}/v1#m` },
      populations: { policy: population }
    })
  )
  const { child, ready } = await inspoServer(["serve", "served.json", "--port", "0", "--json"], { cwd })
  const { url } = decodeReady(ready)
  return {
    url,
    stop: async () => {
      const closed = once(child, "close")
      child.kill("SIGINT")
      await closed
      model.close()
    }
  }
}

const decodeReady = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ url: Schema.String })))
