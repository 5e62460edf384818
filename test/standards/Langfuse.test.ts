/** @module-tag deep */
import { execFile } from "node:child_process"
import { createServer, type IncomingMessage } from "node:http"
import { json } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { Inspo } from "@inspo/client"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import * as Served from "./Served.ts"

const program = fileURLToPath(new URL("../../examples/langfuse/sync.ts", import.meta.url))

const Prompt = Schema.Struct({ name: Schema.String, prompt: Schema.String, labels: Schema.Array(Schema.String) })

/** Answers as Langfuse 4's API describes them: scores in pages of three, the metadata of spans, and versions of prompts. */
const langfuse = () => {
  const traces: Array<{ readonly id: string; readonly lease: string; readonly value: number }> = []
  const prompts: Array<typeof Prompt.Type> = []
  const page = 3
  const scores = (query: URLSearchParams) => {
    const from = Number(query.get("cursor") ?? 0)
    const data = traces.slice(from, from + page).map(({ id, value }, index) =>
      // Evaluators score traces or spans, people say yes or no.
      index === 0
        ? { name: "helpful", value: value === 1, dataType: "BOOLEAN", comment: null, subject: { kind: "trace", id } }
        : { name: "helpful", value, dataType: "NUMERIC", subject: { kind: "observation", id: `${id}-b`, traceId: id } }
    )
    return { data, meta: from + page < traces.length ? { limit: page, cursor: String(from + page) } : { limit: page } }
  }
  const observations = (query: URLSearchParams) => {
    const trace = traces.find(({ id }) => id === query.get("traceId"))
    const attributes = JSON.stringify({ "gen_ai.operation.name": "chat", "inspo.lease": trace?.lease })
    return { data: [{ id: `${trace?.id}-a`, metadata: { attributes } }, { id: `${trace?.id}-b` }], meta: {} }
  }
  const answer = async (request: IncomingMessage): Promise<unknown> => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://langfuse")
    if (request.headers.authorization !== `Basic ${btoa("pk:sk")}`) return null
    if (pathname === "/api/public/v3/scores") return scores(searchParams)
    if (pathname === "/api/public/v2/observations") return observations(searchParams)
    if (pathname === "/api/public/v2/prompts/support")
      return prompts.findLast(({ labels }) => labels.includes(searchParams.get("label") ?? "")) ?? null
    const made = Schema.decodeUnknownSync(Prompt)(await json(request))
    prompts.push(made)
    return { ...made, version: prompts.length, tags: [], config: {} }
  }
  const server = createServer((request, response) => {
    void answer(request).then((body) =>
      response.writeHead(body === null ? 404 : 200, { "content-type": "application/json" }).end(JSON.stringify(body))
    )
  })
  return { traces, prompts, server }
}

const listening = (server: ReturnType<typeof createServer>): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`)
    })
  })

describe("the example of Langfuse, with its unmodified client", () => {
  it("reports each score once, and publishes the incumbent when it changes", { timeout: 240_000 }, async () => {
    const served = await Served.start()
    const { prompts, server, traces } = langfuse()
    const env = {
      ...process.env,
      LANGFUSE_BASE_URL: await listening(server),
      LANGFUSE_PUBLIC_KEY: "pk",
      LANGFUSE_SECRET_KEY: "sk"
    }
    const sync = () => promisify(execFile)(process.execPath, [program, served.url, "helpful", "60", "support"], { env })
    const inspo = new Inspo({ urls: [served.url], timeout: 10_000 })
    try {
      for (let pass = 0; pass < 4; pass++) {
        for (let index = 0; index < 100; index++) {
          const lease = await inspo.lease("support", { fallback: "" })
          traces.push({
            id: `t${traces.length}`,
            lease: lease.id ?? "",
            value: lease.text === Served.learned.incumbent ? 1 : 0
          })
        }
        await sync()
      }
      assert.deepStrictEqual(await Served.outcome(served), Served.learned)
      assert.match((await sync()).stdout, /"accepted":0,"duplicate":400/u)
      assert.strictEqual(prompts.at(-1)?.prompt, Served.learned.incumbent)
      const texts = prompts.map(({ prompt }) => prompt)
      assert.deepStrictEqual(texts, [...new Set(texts)])
    } finally {
      server.close()
      await served.end()
    }
  })
})
