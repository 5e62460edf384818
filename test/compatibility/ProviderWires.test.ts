import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Provider } from "@inspo/reflection/models"
import { Effect, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { exchanges, getSum } from "../../packages/reflection/test/fixtures/exchanges.ts"
import * as LocalServer from "../../packages/reflection/test/support/LocalServer.ts"
import * as Foreign from "./support/Foreign.ts"

const script = fileURLToPath(new URL("./python/provider_wires.py", import.meta.url))
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Json))

const call = { id: "c1", name: "get-sum", input: { a: 2, b: 3 }, signature: "c2ln" }

/** What a model is sent in a conversation with a call, and what a server answers. */
const wireOf = Effect.fnUntraced(function* ({ calling, provider }: (typeof exchanges)[number]) {
  const response = calling("Let me see.", [{ id: "c1", name: "get-sum", args: { a: 2, b: 3 } }])
  const server = yield* LocalServer.make(() => [{ body: response }])
  const chat = yield* Provider.chat(provider, {
    model: "m",
    url: server.url,
    apiKey: null,
    maxOutputTokens: 100,
    // As a run sends it unless another temperature is set: Anthropic's newest client has no temperature.
    temperature: null,
    timeout: "1 minute",
    retries: 0
  })
  const { calls } = yield* chat({
    messages: [
      { role: "system", text: "Add." },
      { role: "user", text: "2 + 3" },
      { role: "assistant", text: "", calls: [call] },
      { role: "tool", results: [{ call, text: "5" }] }
    ],
    tools: [getSum]
  })
  assert.lengthOf(calls, 1)
  return { provider: provider.name, request: decode(server.asked[0]?.body), response: decode(response) }
})

describe.skipIf(Foreign.problem !== null)("providers' own clients", () => {
  it.live(
    "have the types of what is sent to their servers and read from them, tool calls included",
    () =>
      Effect.gen(function* () {
        const wires = yield* Effect.forEach(exchanges, wireOf)
        const check = (some: ReadonlyArray<unknown>) =>
          spawnSync(Foreign.python, [script], { input: JSON.stringify(some), encoding: "utf8" })
        const checked = check(wires)
        assert.strictEqual(checked.status, 0, checked.stderr)
        // The check refuses what their types do not have.
        for (const { provider, request, response } of wires) {
          const broken = JSON.stringify(request).replace(/"get-sum"/gu, "7")
          assert.notStrictEqual(check([{ provider, response, request: decode(broken) }]).status, 0, provider)
        }
        for (const [name, packageName] of [
          ["OpenAI's", "openai"],
          ["Anthropic's", "anthropic"],
          ["Google's", "google-genai"]
        ] as const)
          Foreign.record({
            software: `${name} Python client`,
            package: packageName,
            registry: "PyPI",
            what: "the types of requests and answers of a chat model with native tool calls"
          })
      }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer)),
    300_000
  )
})
