import { assert, describe, it } from "@effect/vitest"
import { ModelConfig } from "@inspo/engine-local"
import { Schema } from "effect"
import * as Decoder from "../../src/internal/Decoder.ts"
import * as Evaluator from "../../src/internal/Evaluator.ts"
import * as Policies from "../../src/internal/Policies.ts"
import * as Programs from "../../src/internal/Programs.ts"
import type { DecodeRequest, EvaluateRequest, WorkerData } from "../../src/internal/Protocol.ts"
import * as WorkerPool from "../../src/internal/WorkerPool.ts"
import { config } from "../fixtures.ts"

const layout: WorkerData["layout"] = [
  { name: "a", shape: [1, 2], offset: 0, size: 2, deviation: 1 },
  { name: "b", shape: [1, 1], offset: 2, size: 1, deviation: 1 }
]

const names = ["current", "reference", "sampled"] as const

const Write = Schema.Struct({ policy: Schema.Literals(names), values: Schema.Array(Schema.Int) })

describe("Policies", () => {
  for (const readsShared of [true, false])
    it.prop(
      `hold what the policies are once renewed, ${readsShared ? "in" : "not in"} shared memory`,
      [Schema.Array(Write)],
      ([writes]) => {
        const empty = () => new SharedArrayBuffer(12)
        const policies = { current: empty(), reference: empty(), sampled: empty() }
        const { parameters, renew } = Policies.make({ layout, policies }, readsShared)
        for (const { policy, values } of writes) {
          new Float32Array(policies[policy]).set(values.slice(0, 3))
          renew([policy])
          for (const name of names) {
            const { a, b } = parameters[name]
            assert.deepStrictEqual([...(a ?? []), ...(b ?? [])], [...new Float32Array(policies[name])])
            assert.strictEqual(a?.buffer === policies[name], readsShared)
          }
        }
      }
    )

  it("copies give the bits that shared memory gives, before and after an update", async () => {
    const [data, copied] = [start(), start()]
    assert.isTrue(await Policies.readsShared(data.probe), "the Node.js that this repository brings")
    const [shared, copies] = [worker(data, true), worker(copied, false)]
    const before = await shared.results()
    assert.deepStrictEqual(await copies.results(), before)

    for (const { policies } of [data, copied])
      for (const name of ["current", "sampled"] as const)
        new Float32Array(policies[name]).set(ModelConfig.initialParameters(config, "updated"))
    assert.deepStrictEqual(await copies.results(), before, "a session reads shared memory")
    copies.renew(["current", "sampled"])
    const after = await copies.results()
    assert.notDeepEqual(after, before)
    assert.deepStrictEqual(await shared.results(), after)
  })
})

const start = (): WorkerData =>
  WorkerPool.workerData({ config, parameters: ModelConfig.initialParameters(config, "policies"), rows: 4 })

/** Both kinds of task as a worker does them. */
const worker = (data: WorkerData, readsShared: boolean) => {
  const { parameters, renew } = Policies.make(data, readsShared)
  const evaluate = Evaluator.make(data, parameters)
  const sample = Decoder.make(data, parameters.sampled)
  return {
    renew,
    results: async () => {
      const [[sampled = []], current, reference] = [
        await sample([request]),
        await evaluate(scoring("current")),
        await evaluate(scoring("reference"))
      ]
      const samples = sampled.map(({ keyValues, ...rest }) => ({ ...rest, keyValues: new Float32Array(keyValues) }))
      return { samples, current, reference, gradient: new Float32Array(data.lanes[0] ?? new ArrayBuffer()).slice() }
    }
  }
}

const request: DecodeRequest = {
  prompt: [2, 40, 3, 7, 1],
  samples: 3,
  maxTokens: 6,
  stop: [],
  temperature: 1,
  topP: 1,
  topK: undefined,
  draws: Float64Array.from({ length: 18 }, (_, index) => ((index * 7) % 18) / 18),
  cached: null
}

const scoring = (policy: "current" | "reference"): EvaluateRequest => {
  const integers = (from: number) => BigInt64Array.from({ length: 32 }, (_, index) => BigInt((from + index) % 16))
  const inputs = { tokens: integers(1), previous: integers(0), positions: integers(0), targets: integers(2) }
  const weights = new Float32Array(32).fill(1)
  return {
    policy,
    lane: 0,
    outputs: ["loss"],
    batches: [{ program: Programs.make(config).sequence(2, 16, "cross-entropy"), inputs: { ...inputs, weights } }]
  }
}
