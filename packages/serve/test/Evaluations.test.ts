import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Limits } from "@inspo/serve"
import * as Evaluations from "../src/http/internal/Evaluations.ts"

const idOf = (span: number) => `0af7651916cd43dd8448eb211c80319c/${(span >>> 0).toString(16).padStart(16, "0")}`
const [root, child, grandchild] = [idOf(1), idOf(2), idOf(3)] as const

const result = (value: number, more: Readonly<Record<string, string>> = {}) => ({
  name: "gen_ai.evaluation.result",
  attributes: { "gen_ai.evaluation.name": "Relevance", "gen_ai.evaluation.score.value": value, ...more }
})

describe("Evaluations", () => {
  it("keeps tokens, cost, latency and the explanation of a result, of which the chosen evaluation counts", () => {
    const used = { "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 11, "gen_ai.usage.cost": 0.5 }
    const explained = result(1, { "gen_ai.evaluation.explanation": "It answers." })
    const span = {
      id: root,
      parent: null,
      seconds: 2,
      name: "chat",
      attributes: { "inspo.lease": "l1", ...used },
      events: [result(0, { "gen_ai.evaluation.name": "Length" }), explained]
    }
    const { ofLogs, ofSpans } = Evaluations.make()
    const reward = { lease: "l1", value: 1, feedback: "It answers.", tokens: 111, usd: 0.5, metrics: { latency: 2 } }
    assert.deepStrictEqual(ofSpans([span], "Relevance"), [Result.succeed(reward)])
    assert.lengthOf(ofSpans([span], undefined), 2)
    const under = {
      ...span,
      id: child,
      parent: root,
      attributes: { "gen_ai.usage.input_tokens": 5 },
      events: [explained]
    }
    assert.deepStrictEqual(ofSpans([under], undefined), [Result.succeed({ ...reward, tokens: 5 })])
    assert.deepStrictEqual(ofLogs([{ ...explained, id: root }], undefined), [Result.succeed(reward)])
    assert.deepStrictEqual(ofLogs([{ ...explained, id: grandchild }], undefined), [Result.fail(Evaluations.noLease)])
  })

  it("remembers the leases of a bounded number of spans, and follows no circle of parents", () => {
    const { ofLogs, ofSpans } = Evaluations.make()
    const span = (id: number, parent: number | null) => ({
      id: idOf(id),
      parent: parent === null ? null : idOf(parent),
      seconds: 0,
      name: "chat",
      attributes: parent === null ? { "inspo.lease": "l1" } : {},
      events: [result(1)]
    })
    ofSpans(
      Array.from({ length: Limits.spansRemembered + 1 }, (_, id) => span(id, null)),
      undefined
    )
    const [oldest, newest] = ofLogs(
      [0, Limits.spansRemembered].map((id) => ({ ...result(1), id: idOf(id) })),
      undefined
    )
    assert.deepStrictEqual([oldest?._tag, newest?._tag], ["Failure", "Success"])
    assert.deepStrictEqual(
      ofSpans([span(-1, -2), span(-2, -1)], undefined),
      Array(2).fill(Result.fail(Evaluations.noLease))
    )
  })

  it("remembers no name of another length, which would fill the memory", () => {
    const { ofLogs, ofSpans } = Evaluations.make()
    const long = "a".repeat(Limits.leaseLength)
    for (const [id, lease] of [
      [long, "l1"],
      [`${root}0`, "l1"],
      [idOf(4), `${long}a`],
      [idOf(5), long]
    ] as const) {
      ofSpans(
        [{ id, parent: null, seconds: 0, name: "chat", attributes: { "inspo.lease": lease }, events: [] }],
        undefined
      )
      const [found] = ofLogs([{ ...result(1), id }], undefined)
      assert.strictEqual(found?._tag, lease === long ? "Success" : "Failure")
    }
  })
})
