import { assert, describe, it } from "@effect/vitest"
import { Presets, type RunConfig } from "@inspo/config"
import { ProposerModel } from "@inspo/reflection"
import { ConfigProvider, Effect, type Scope } from "effect"
import * as LocalServer from "../../../../packages/reflection/test/support/LocalServer.ts"
import type { Check } from "../../src/preflight/Check.ts"
import * as Preflight from "../../src/preflight/Preflight.ts"

const chat = JSON.stringify({ choices: [{ message: { content: "Hello" }, finish_reason: "length" }] })
const listed = JSON.stringify({ data: [{ id: "m" }] })
const passages = '{"result":[[{"document":{"id":"1","contents":"A title\\nA text."},"score":1}]]}'

const requests = { ...Presets.tiny.requests, timeoutSeconds: 1 }

const optimized = (url: string): RunConfig => ({
  ...Presets.tiny,
  proposer: { ...Presets.tiny.proposer, model: ProposerModel.named(`${url}#m`) },
  keys: { ...Presets.tiny.keys, proposer: "A_KEY" },
  requests
})
const judged = (url: string): RunConfig => ({
  ...Presets.tiny,
  reward: { kind: { name: "judge", model: `${url}#m`, criteria: null }, shaping: { name: "none" } },
  requests
})
const searching = (url: string): RunConfig => ({
  ...Presets.tiny,
  retrieval: { ...Presets.tiny.retrieval, url },
  requests
})
const remote =
  (profile: RunConfig["engine"]["profile"]) =>
  (url: string): RunConfig => ({ ...Presets.tiny, engine: { ...Presets.tiny.engine, url, profile } })

const look = (config: RunConfig) =>
  Preflight.look(config).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ A_KEY: "a-key-of-the-test" })))
  )

const at = (
  configured: (url: string) => RunConfig,
  replies: (asked: LocalServer.Asked) => LocalServer.Reply
): Effect.Effect<readonly [ReadonlyArray<Check>, LocalServer.LocalServer], never, Scope.Scope> =>
  Effect.gen(function* () {
    const server = yield* LocalServer.make((asked) => [replies(asked)])
    return [yield* look(configured(server.url)), server] as const
  })

describe("look", () => {
  it.live("asks nobody where a run needs no server", () =>
    Effect.map(look(Presets.tiny), (checks) => assert.deepStrictEqual(checks, []))
  )

  it.live("asks for no proposer where nothing is to be written", () =>
    Effect.gen(function* () {
      const config = optimized("http://127.0.0.1:1")
      const alone = {
        ...config,
        population: { ...config.population, size: 1, parents: 1 },
        schedule: { ...config.schedule, evolveEvery: 0 }
      }
      assert.deepStrictEqual(yield* look(alone), [])
      assert.deepStrictEqual(yield* look({ ...config, proposer: { ...config.proposer, kind: { name: "random" } } }), [])
    })
  )

  it.live.each([
    ["proposer", optimized, { body: listed }, 1],
    ["judge", judged, { body: listed }, 1],
    ["retriever", searching, { body: passages }, 1],
    ["engine", remote("tinker"), { body: "{}" }, 1],
    ["engine", remote("completions"), { body: listed }, 1]
  ] as const)("finds a %s that is there", ([part, configured, reply, requests]) =>
    Effect.gen(function* () {
      const [checks, { asked }] = yield* at(configured, () => reply)
      assert.deepStrictEqual(
        checks.map((check) => [check.part, check.status]),
        [[part, "ready"]]
      )
      assert.lengthOf(asked, requests)
      assert.isEmpty(yield* Preflight.assertReady(checks))
    })
  )

  const faults: ReadonlyArray<readonly [string, LocalServer.Reply, { readonly [part: string]: string }]> = [
    [
      "401",
      { status: 401, body: '{"error":{"message":"bad key"}}' },
      { models: "key", retriever: "retrieval.url", engine: "keys.engine" }
    ],
    ["404", { status: 404 }, { models: "model", retriever: "retrieval.url", engine: "engine.url" }],
    ["a page", { body: "<html>Welcome</html>" }, { models: "model", retriever: "retrieval.url", engine: "engine.url" }],
    [
      "a broken connection",
      { breaks: "at once" },
      { models: "model", retriever: "retrieval.url", engine: "engine.url" }
    ]
  ]
  const parts = [
    ["proposer", optimized, "models", "proposer."],
    ["judge", judged, "models", "reward.kind."],
    ["retriever", searching, "retriever", ""],
    ["engine", remote("tinker"), "engine", ""],
    ["engine", remote("completions"), "engine", ""]
  ] as const

  it.live.each(
    faults.flatMap(([name, reply, settings]) =>
      parts.map(
        ([part, configured, group, section]) =>
          [
            name,
            part,
            configured,
            reply,
            settings[group] === "key" ? `keys.${part}` : `${section}${settings[group]}`
          ] as const
      )
    )
  )("refuses to begin where %s comes from the %s, and names the setting", ([, part, configured, reply, setting]) =>
    Effect.gen(function* () {
      const [checks] = yield* at(configured, () => reply)
      assert.deepStrictEqual(
        checks.map((check) => [check.part, check.status]),
        [[part, "failed"]]
      )
      const { problem } = yield* Effect.flip(Preflight.assertReady(checks))
      assert.include(problem, setting)
      assert.notInclude(problem, "\n")
      assert.notInclude(problem, "a-key-of-the-test")
    })
  )

  it.live.each([
    [429, "rate-limited"],
    [500, "server-error"]
  ] as const)("begins where a language model is busy just now (%i), and says so", ([status]) =>
    Effect.gen(function* () {
      const [checks] = yield* at(optimized, () => ({ status, body: '{"error":{"message":"later"}}' }))
      assert.strictEqual(checks[0]?.status, "unsure")
      assert.match((yield* Preflight.assertReady(checks)).join(" "), /^Note: proposer m: .*later/u)
    })
  )

  it.live("asks a model that is not listed for one token", () =>
    Effect.gen(function* () {
      const [checks, { asked }] = yield* at(optimized, ({ method }) => ({
        body: method === "GET" ? '{"data":[]}' : chat
      }))
      assert.deepStrictEqual(checks, [{ part: "proposer", status: "ready", detail: "m answers" }])
      assert.match(asked[1]?.body ?? "", /"max_tokens":1\b/u)
    })
  )

  it.live("refuses to begin without a key", () =>
    Effect.gen(function* () {
      const checks = yield* Preflight.look(optimized("http://127.0.0.1:1")).pipe(
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({})))
      )
      assert.include((yield* Effect.flip(Preflight.assertReady(checks))).problem, "keys.proposer is A_KEY")
    })
  )
})
