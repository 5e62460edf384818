import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { Inspo } from "@inspo/client"
import { instruct } from "@inspo/client/AiSdk"
import { Population } from "@inspo/serve"
import { generateText, isStepCount, streamText, tool, wrapLanguageModel } from "ai"
import { Schema } from "effect"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { z } from "zod"
import { endAll, inspoServer } from "../cli/Inspo.ts"
import { freePort } from "../cli/FreePort.ts"
import { ModelServer } from "./ModelServer.ts"

const variants = ["Ask first.", "Be brief.", "Be kind."]
const tools = { weather: tool({ inputSchema: z.object({}), execute: () => "rain" }) }
const server = new ModelServer()
let directory = ""
let url = ""
let baseURL = ""
let inspo: Inspo

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-agents-aisdk-"))
  const populations = { support: { seed: "Be helpful.", variants } }
  await writeFile(join(directory, "serve.json"), JSON.stringify({ populations }))
  const { ready } = await inspoServer(["serve", "serve.json", "--port", "0", "--json"], { cwd: directory })
  url = JSON.parse(ready).url
  baseURL = await server.start()
}, 60_000)

afterAll(async () => {
  endAll()
  await server.stop()
  await rm(directory, { recursive: true, force: true })
})

beforeEach(() => {
  inspo = new Inspo({ urls: [url], timeout: 10_000, onProblem: () => {} })
})

afterEach(async () => {
  await inspo.flush()
  server.takeSystems()
  server.fail = null
})

const agent = (client = inspo) => {
  const middleware = instruct(client, "support", { fallback: "Do your best." })
  const model = createOpenAICompatible({ name: "scripted", baseURL, includeUsage: true })("scripted")
  return { model: wrapLanguageModel({ model, middleware }), report: middleware.report }
}

const of = (conversation: string) => ({ providerOptions: { inspo: { conversation } } })

const population = async () =>
  Schema.decodeUnknownSync(Population.Population)(await (await fetch(`${url}/v1/populations/support`)).json())

describe("the middleware of the AI SDK", { timeout: 60_000 }, () => {
  it("asks every step and turn of a conversation with its one instruction, and other conversations with others", async () => {
    const { leases: before } = await population()
    const { model, report } = agent()
    const seen = new Set<string>()
    for (let index = 0; index < 12; index++) {
      const conversation = `turns-${index}`
      const first = await generateText({ model, prompt: "Hi", tools, stopWhen: isStepCount(3), ...of(conversation) })
      // As another process would: it knows nothing of the first turn.
      const second = await generateText({ model: agent().model, prompt: "And?", ...of(conversation) })
      const systems = server.takeSystems()
      assert.lengthOf(systems, 3)
      assert.strictEqual(new Set(systems).size, 1)
      assert.strictEqual(second.text, first.text)
      assert.include(["Be helpful.", ...variants], first.text)
      seen.add(first.text)
      await report(first, index % 2, { feedback: "seen" })
      await report(second, 1)
    }
    assert.isAbove(seen.size, 1)
    assert.strictEqual(await inspo.flush(), 0)
    assert.deepInclude(inspo.counts, { leased: 24, accepted: 12, duplicate: 12 })
    assert.strictEqual((await population()).leases.given - before.given, 12)
  })

  it("streams what the model streams, and tells the lease at the end", async () => {
    const { model, report } = agent()
    const result = streamText({ model, prompt: "Hi", tools, stopWhen: isStepCount(3), ...of("streamed") })
    let text = ""
    for await (const part of result.textStream) text += part
    const systems = server.takeSystems()
    assert.deepStrictEqual(systems, [text, text])
    await report(result.finalStep, 0.5)
    await inspo.flush()
    assert.strictEqual(inspo.counts.accepted, 1)
    const plain = streamText({ model: createOpenAICompatible({ name: "scripted", baseURL })("scripted"), prompt: "Hi" })
    await plain.consumeStream()
    await inspo.flush()
    await assertRejects(report(plain.finalStep, 1), "providerMetadata.inspo")
  })

  it("leaves no lease open of a conversation that the model did not answer, or of which a stream broke", async () => {
    const { leases: before } = await population()
    const { model } = agent()
    server.fail = 529
    for (const maxRetries of [0, 1]) {
      const given = { model, maxRetries, prompt: "Hi", ...of(`failing-${maxRetries}`) }
      await assertRejects(generateText(given), "busy")
    }
    server.fail = null
    const providerOptions = { ...of("breaking").providerOptions, scripted: { user: "leaves" } }
    const broken = streamText({ model, prompt: "Hi", providerOptions, onError: () => {} })
    const reading = broken.textStream.getReader()
    await reading.read()
    server.drop()
    await reading.read().catch(() => {})
    await inspo.flush()
    const { given, open } = (await population()).leases
    assert.deepEqual({ given, open }, { given: before.given + 3, open: before.open })
  })

  it("keeps the system prompt of the caller behind the instruction, in one message", async () => {
    const { model } = agent()
    const { text } = await generateText({ model, system: "The shop opens at 9.", prompt: "Hi", ...of("own") })
    assert.match(text, /^[^\n]+\.\n\nThe shop opens at 9\.$/u)
    const [asked] = server.asked
    assert.lengthOf(JSON.parse(asked?.body ?? "").messages, 2)
  })

  it("goes on with one fallback through a whole conversation where no server answers", async () => {
    const port = await freePort()
    const lost = new Inspo({ urls: [`http://127.0.0.1:${port}`], timeout: 200, onProblem: () => {} })
    const { model, report } = agent(lost)
    const result = await generateText({ model, prompt: "Hi", tools, stopWhen: isStepCount(3), ...of("lost") })
    assert.deepStrictEqual(server.takeSystems(), ["Do your best.", "Do your best."])
    await report(result, 1)
    assert.deepInclude(lost.counts, { unleased: 1, accepted: 0, pending: 0 })
  })

  it("refuses a call that names no conversation, which would count all of them as one", async () => {
    const { model } = agent()
    await assertRejects(generateText({ model, prompt: "Hi" }), "conversation")
    await assertRejects(generateText({ model, prompt: "Hi", ...of("") }), "conversation")
  })
})

const assertRejects = async (promise: PromiseLike<unknown>, part: string): Promise<void> => {
  const told = await promise.then(
    () => "nothing",
    (error: unknown) => String(error)
  )
  assert.include(told, part)
}
