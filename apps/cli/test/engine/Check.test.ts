import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { check, type CheckInput } from "../../src/engine/Check.ts"

const input: CheckInput = {
  url: "http://127.0.0.1:1",
  model: Option.none(),
  protocol: "tinker",
  profile: "auto",
  encoding: "auto",
  tokenizer: Option.none(),
  contextLength: Option.none(),
  loraRank: Option.none(),
  concurrency: Option.none(),
  apiKeyEnv: Option.none(),
  tolerance: 0
}

describe("engine check", () => {
  it.effect.each<readonly [string, Partial<CheckInput>]>([
    ["--concurrency is 0, expected at least 1.", { concurrency: Option.some(0) }],
    ["--context-length is -5, expected at least 1.", { contextLength: Option.some(-5) }],
    ["--lora-rank is -3, expected at least 0.", { loraRank: Option.some(-3) }],
    ["--tolerance is -1, expected at least 0.", { tolerance: -1 }]
  ])("asks no server where %s", ([problem, changes]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(check({ ...input, ...changes }))
      assert.strictEqual(error._tag, "UsageError")
      assert.strictEqual(error.message, problem)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
