import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type Value, write } from "./support/Protobuf.ts"
import * as Routes from "./support/Routes.ts"

const trace = "0af7651916cd43dd8448eb211c80319c"
const score = "gen_ai.evaluation.score.value"
const json = { "content-type": "application/json" }
const protobuf = { "content-type": "application/x-protobuf" }

interface Span {
  readonly id: string
  readonly parent?: string
  readonly attributes?: Readonly<Record<string, string | number>>
  readonly events?: ReadonlyArray<Event>
}
interface Event {
  readonly name: string
  readonly attributes: Readonly<Record<string, string | number>>
}

const result = (value: number, more: Event["attributes"] = {}): Event => ({
  name: "gen_ai.evaluation.result",
  attributes: { "gen_ai.evaluation.name": "Relevance", [score]: value, ...more }
})

const inJson = {
  attributes: (attributes: Event["attributes"] = {}) =>
    Object.entries(attributes).map(([key, value]) => ({
      key,
      value:
        typeof value === "string"
          ? { stringValue: value }
          : Number.isInteger(value)
            ? { intValue: String(value) }
            : { doubleValue: value }
    })),
  spans: (spans: ReadonlyArray<Span>) => ({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: spans.map(({ attributes, events = [], id, parent }) => ({
              traceId: trace.toUpperCase(),
              spanId: id,
              ...(parent === undefined ? {} : { parentSpanId: parent }),
              name: "chat",
              endTimeUnixNano: "1544712661000000000",
              attributes: inJson.attributes(attributes),
              events: events.map((event) => ({ ...event, attributes: inJson.attributes(event.attributes) }))
            }))
          }
        ]
      }
    ]
  })
}

const inProtobuf = {
  attributes: (attributes: Event["attributes"] = {}): ReadonlyArray<Value> =>
    Object.entries(attributes).map(([key, value]) => ({
      1: key,
      2:
        typeof value === "string"
          ? { 1: [value] }
          : Number.isInteger(value)
            ? { 3: [value] }
            : { 4: [{ double: value }] }
    })),
  spans: (spans: ReadonlyArray<Span>) =>
    write({
      1: [
        {
          2: [
            {
              2: spans.map(({ attributes, events = [], id, parent = "" }) => ({
                1: Buffer.from(trace, "hex"),
                2: Buffer.from(id, "hex"),
                4: Buffer.from(parent, "hex"),
                5: "chat",
                9: inProtobuf.attributes(attributes),
                11: events.map((event) => ({ 2: event.name, 3: inProtobuf.attributes(event.attributes) }))
              }))
            }
          ]
        }
      ]
    }),
  logs: (id: string, { attributes, name }: Event) =>
    write({
      1: [
        {
          2: [
            {
              2: [
                {
                  6: inProtobuf.attributes(attributes),
                  9: Buffer.from(trace, "hex"),
                  10: Buffer.from(id, "hex"),
                  12: name
                }
              ]
            }
          ]
        }
      ]
    })
}

const decodeLeases = Schema.decodeUnknownSync(
  Schema.Struct({ leases: Schema.Array(Schema.Struct({ lease: Schema.String })) })
)

const started = Effect.gen(function* () {
  const ask = yield* Routes.make()
  yield* ask("PUT", "/v1/populations/support", { seed: "Be brief." })
  let key = 0
  const lease = Effect.gen(function* () {
    const { body } = yield* ask("POST", "/v1/populations/support/leases", { requests: [{ key: String(key++) }] })
    return decodeLeases(body).leases[0]?.lease ?? ""
  })
  /** How a reward of the lease is answered: `duplicate` if it has one. */
  const isRewarded = (lease: string) =>
    Effect.map(
      ask("POST", "/v1/populations/support/rewards", { rewards: [{ lease, value: 0 }] }),
      ({ body }) => JSON.stringify(body) === JSON.stringify({ results: [{ outcome: "duplicate" }] })
    )
  return { ask, lease, isRewarded }
})

const [root, child, grandchild] = ["00f067aa0ba902b7", "00f067aa0ba902b8", "00f067aa0ba902b9"] as const

describe("telemetry", () => {
  it.effect(
    "is a reward for the lease of the span, an ancestor, or an event of one; in JSON and protobuf, packed or not",
    () =>
      Effect.gen(function* () {
        const { ask, isRewarded, lease } = yield* started
        const forms = [
          [(spans: ReadonlyArray<Span>) => Buffer.from(JSON.stringify(inJson.spans(spans))), json],
          [inProtobuf.spans, protobuf]
        ] as const
        for (const [form, type] of forms)
          for (const [pack, encoding] of [
            [(bytes: Uint8Array) => bytes, {}],
            [gzipSync, { "content-encoding": "gzip" }]
          ] as const)
            for (const shape of [
              (leased: string): ReadonlyArray<Span> => [
                { id: root, attributes: { "inspo.lease": leased }, events: [result(0.25)] }
              ],
              (leased: string): ReadonlyArray<Span> => [
                { id: grandchild, parent: child, events: [result(1)] },
                { id: child, parent: root },
                {
                  id: root,
                  events: [{ name: "feature_flag.evaluation", attributes: { "inspo.lease": leased } }]
                }
              ]
            ]) {
              const leased = yield* lease
              const answered = yield* ask("POST", "/v1/traces", pack(form(shape(leased))), { ...type, ...encoding })
              assert.strictEqual(answered.status, 200)
              assert.strictEqual(answered.headers.get("content-type"), type["content-type"])
              assert.deepStrictEqual<unknown>(answered.body, type === json ? {} : new Uint8Array())
              assert.isTrue(yield* isRewarded(leased))
            }
      }).pipe(Effect.scoped)
  )

  it.effect("takes metrics, and ignores them", () =>
    Effect.gen(function* () {
      const { ask, isRewarded, lease } = yield* started
      const leased = yield* lease
      const spans = inJson.spans([{ id: root, attributes: { "inspo.lease": leased }, events: [result(1)] }])
      for (const [body, type, answer] of [
        [spans, json, {}],
        [write({ 1: [] }), protobuf, new Uint8Array()]
      ] as const) {
        const answered = yield* ask("POST", "/v1/metrics", body, type)
        assert.deepStrictEqual<unknown>([answered.status, answered.body], [200, answer])
      }
      assert.isFalse(yield* isRewarded(leased))
    }).pipe(Effect.scoped)
  )

  it.effect("counts a repeated result once, and one of a log record for the span that was received before", () =>
    Effect.gen(function* () {
      const { ask, isRewarded, lease } = yield* started
      const leased = yield* lease
      yield* ask("POST", "/v1/traces", inJson.spans([{ id: root, attributes: { "inspo.lease": leased } }]))
      for (let time = 0; time < 2; time++) {
        const answered = yield* ask("POST", "/v1/logs", inProtobuf.logs(root, result(1)), protobuf)
        assert.deepStrictEqual<unknown>([answered.status, answered.body], [200, new Uint8Array()])
      }
      assert.isTrue(yield* isRewarded(leased))
      const other = yield* lease
      const record = {
        attributes: inJson.attributes({ ...result(1).attributes, "event.name": result(1).name, "inspo.lease": other })
      }
      const logs = { resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }
      assert.deepStrictEqual<unknown>((yield* ask("POST", "/v1/logs", logs)).body, {})
      assert.isTrue(yield* isRewarded(other))
    }).pipe(Effect.scoped)
  )

  it.effect("says what was refused, and accepts the rest", () =>
    Effect.gen(function* () {
      const { ask, isRewarded, lease } = yield* started
      const [good, bad] = [yield* lease, yield* lease]
      const leased = (id: string, lease: string, event: Event): Span => ({
        id,
        attributes: { "inspo.lease": lease },
        events: [event]
      })
      const noScore = { ...result(1).attributes, [score]: "good" }
      const answered = yield* ask(
        "POST",
        "/v1/traces",
        inJson.spans([
          leased(root, good, result(0.5)),
          leased(child, bad, result(7)),
          leased(grandchild, "support~0/none/none", result(1)),
          leased("00f067aa0ba902ba", "nobody~0/none/none", result(1)),
          leased("00f067aa0ba902bb", bad, { name: result(1).name, attributes: noScore }),
          { id: "00f067aa0ba902bc", events: [result(1)] },
          { id: "00f067aa0ba902bd", parent: "00f067aa0ba902bd" }
        ])
      )
      assert.strictEqual(answered.status, 200)
      const { partialSuccess } = decodePartial(answered.body)
      assert.strictEqual(partialSuccess.rejectedSpans, 4)
      for (const part of ["value is 7", "unknown", "no reward", "inspo.lease"])
        assert.include(partialSuccess.errorMessage, part)
      assert.isTrue(yield* isRewarded(good))
      assert.isFalse(yield* isRewarded(bad))
    }).pipe(Effect.scoped)
  )

  it.effect("reads null as absent, and loses no other reward by an attribute that cannot be used", () =>
    Effect.gen(function* () {
      const { ask, isRewarded, lease } = yield* started
      const nan = { key: "loss", value: { doubleValue: "NaN" } }
      for (const more of [
        { attributes: [nan] },
        { attributes: [{ key: "usd", value: { doubleValue: "-Infinity" } }] },
        { attributes: [{ key: "n", value: { intValue: "1e400", stringValue: null } }] },
        { attributes: [{ key: "none", value: null }, { key: null }, null, 7] },
        { attributes: [{ key: "n", value: { intValue: true } }] },
        { attributes: null, parentSpanId: null, events: null, name: null, endTimeUnixNano: null },
        { events: [{ name: "nothing", attributes: [nan] }, { attributes: null }] }
      ]) {
        const leased = yield* lease
        const { resourceSpans } = inJson.spans([
          { id: root, attributes: { "inspo.lease": leased }, events: [result(0.5)] },
          { id: child }
        ])
        const [good, bad] = resourceSpans[0]?.scopeSpans[0]?.spans ?? []
        const own = { ...good, attributes: [...(good?.attributes ?? []), nan] }
        const spans = [own, { ...bad, ...more }]
        const answered = yield* ask("POST", "/v1/traces", {
          resourceSpans: [{ resource: null, scopeSpans: [{ spans }] }]
        })
        assert.deepStrictEqual<unknown>([answered.status, answered.body], [200, {}])
        assert.isTrue(yield* isRewarded(leased), JSON.stringify(more))
      }
    }).pipe(Effect.scoped)
  )

  it.effect("refuses bodies that cannot be read, in the format they came in", () =>
    Effect.gen(function* () {
      const { ask } = yield* started
      const bomb = gzipSync(Buffer.alloc(2 ** 24))
      for (const [body, headers, status] of [
        ["{", json, 400],
        [JSON.stringify({ resourceSpans: 7 }), json, 400],
        [new Uint8Array([255, 255]), protobuf, 400],
        [bomb, { ...protobuf, "content-encoding": "gzip" }, 400],
        [new Uint8Array(), { ...protobuf, "content-encoding": "br" }, 415],
        ["", { "content-type": "text/plain" }, 415]
      ] as const) {
        const answered = yield* ask("POST", "/v1/traces", body, headers)
        assert.strictEqual(answered.status, status)
        const expected =
          headers === json || status === 415 ? answered.headers.get("content-type") : protobuf["content-type"]
        assert.strictEqual(answered.headers.get("content-type"), expected)
      }
      assert.strictEqual((yield* ask("POST", "/v1/traces", {})).status, 200)
      assert.strictEqual((yield* ask("POST", "/v1/logs", new Uint8Array(), protobuf)).status, 200)
    }).pipe(Effect.scoped)
  )
})

const decodePartial = Schema.decodeUnknownSync(
  Schema.Struct({ partialSuccess: Schema.Struct({ rejectedSpans: Schema.Int, errorMessage: Schema.String }) })
)
