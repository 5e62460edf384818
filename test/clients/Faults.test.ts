/** @module-tag deep */
import { once } from "node:events"
import { createServer } from "node:http"
import { setTimeout as wait } from "node:timers/promises"
import { Inspo } from "@inspo/client"
import { instruct, type Instructing } from "@inspo/client/AiSdk"
import { Schema, Struct } from "effect"
import * as fc from "fast-check"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Fault, ReferenceServer } from "./ReferenceServer.ts"
import { noPython, python, type Subject, typescript, warm } from "./Subject.ts"

const runs = Number(process.env["INSPO_FAULT_SCHEDULES"] ?? 15)

/** In milliseconds; what a busy machine may take besides. */
const [timeout, slack] = [100, 1500]

/** Those that hold a reward back for ten seconds are left to calls for leases. */
const quick: ReadonlyArray<Fault> = [
  "refuse",
  "lost",
  "half",
  "html",
  "empty",
  "garbage",
  { slow: 30 },
  { status: 500 },
  { status: 503, headers: { "retry-after": "0" } },
  { status: 429, body: { type: "urn:inspo:too-many-requests", title: "Too many" } },
  { status: 403 }
]
const slow: ReadonlyArray<Fault> = ["hang", { slow: 150 }]

/** What an agent does, what the server does meanwhile, and how often. */
const Turn = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("lease" as const),
      n: fc.integer({ min: 1, max: 3 }),
      faults: fc.array(fc.constantFrom(...quick, ...slow), { maxLength: 2 })
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("reward" as const),
      twice: fc.boolean(),
      faults: fc.array(fc.constantFrom(...quick), { maxLength: 3 })
    })
  },
  { weight: 1, arbitrary: fc.constant({ do: "restart" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "die" as const }) }
)

const Lease = Schema.Struct({
  leased: Schema.Boolean,
  text: Schema.String,
  id: Schema.NullOr(Schema.String),
  n: Schema.Int
})
const Counts = Schema.Struct({
  accepted: Schema.Int,
  dropped: Schema.Int,
  duplicate: Schema.Int,
  late: Schema.Int,
  pending: Schema.Int,
  refused: Schema.Int,
  unknown: Schema.Int
})

const longest: Array<number> = []

const holds = async (subject: Subject, turns: ReadonlyArray<typeof Turn extends fc.Arbitrary<infer A> ? A : never>) => {
  const server = new ReferenceServer()
  await server.start()
  try {
    const urls = ["http://127.0.0.1:1", server.url]
    await subject.call({ call: "new", with: { urls, timeout, retryDelay: 10, maxQueued: 20 } })
    const open: Array<{ readonly as: string; readonly id: string; readonly sample: number }> = []
    const rewarded = new Set<string>()
    let again = 0
    for (const [index, turn] of turns.entries()) {
      const as = `l${index}`
      if (turn.do === "restart") await server.stop().then(() => server.start())
      else if (turn.do === "die") await server.stop()
      else server.faults = turn.faults
      if (turn.do === "lease") {
        const given = { key: as, n: turn.n, fallback: "Be." }
        const { milliseconds, returned, thrown } = await subject.call({ call: "lease", as, with: given })
        longest.push(milliseconds)
        assert.isNull(thrown)
        assert.isBelow(milliseconds, timeout + slack)
        const { id, leased, text } = Schema.decodeUnknownSync(Lease)(returned)
        assert.include(["Be.", "Be brief."], text)
        assert.strictEqual(id !== null, leased)
        if (id !== null) for (let sample = 0; sample < turn.n; sample++) open.push({ as, id, sample })
      } else if (turn.do === "reward") {
        const one = open.shift()
        if (one === undefined) continue
        for (const _ of turn.twice ? [1, 2] : [1]) {
          const { milliseconds, thrown } = await subject.call({
            call: "reward",
            lease: one.as,
            value: 1,
            with: { sample: one.sample }
          })
          assert.isNull(thrown)
          assert.isBelow(milliseconds, slack)
        }
        rewarded.add(`${one.id}#${one.sample}`)
        if (turn.twice) again++
      }
    }
    // It recovers.
    server.faults = []
    await server.stop()
    await server.start()
    /** Abandoned leases; one whose answer is late may be abandoned after a flush. */
    const given = () => [...server.accepted.values()].filter(({ reward }) => reward.abandoned).length
    const { accepted, dropped, duplicate, late, pending, refused, unknown } = await settled(
      subject,
      (counts) => counts.accepted + counts.duplicate + counts.dropped >= rewarded.size + again + given()
    )
    assert.deepStrictEqual([pending, refused, unknown, late], [0, 0, 0, 0])
    const sent = [...server.accepted].filter(([, { reward }]) => reward.value === 1).map(([name]) => name)
    // Each sent reward was given, and each given one is sent or counted.
    for (const name of sent) assert.isTrue(rewarded.has(name), name)
    assert.strictEqual(accepted + duplicate + dropped, rewarded.size + again + given())
    if (dropped === 0) assert.strictEqual(sent.length, rewarded.size)
    else assert.isAtLeast(sent.length + dropped, rewarded.size)
  } finally {
    await server.stop()
  }
}

/** Values that no field is to have, or that only look harmless. */
const hostile: ReadonlyArray<Schema.Json> = [
  1e9,
  -1,
  0,
  1.5,
  Number.MAX_VALUE,
  true,
  null,
  "",
  "2",
  "\u001b[2J\u202e",
  "x".repeat(100_000),
  [],
  {},
  [null],
  { toString: 1, valueOf: 1 },
  { length: 1e9 }
]

/** An answer in which one part after the other is left out, or is another value. */
const changed = (answer: Schema.Json): ReadonlyArray<Schema.Json> => {
  const parts: Array<string> = []
  JSON.parse(JSON.stringify(answer), (name) => void parts.push(name))
  return parts.flatMap((_, place) =>
    [undefined, ...hostile].map((value) => {
      let at = 0
      const made: unknown = JSON.parse(JSON.stringify(answer), (__, one: unknown) => (at++ === place ? value : one))
      return Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Json))(JSON.stringify(made ?? null))
    })
  )
}

const leased: Schema.Json = {
  type: "urn:inspo:odd",
  detail: "no",
  remedy: "none",
  cohort: "c1",
  incumbent: "i0",
  leases: [
    { lease: "c1:k", key: "k", n: 2, instruction: { id: "i0", text: "Be rude." }, probability: 0.5, closesAt: null }
  ]
}
const rewarded: Schema.Json = {
  results: [{ outcome: "accepted", refusal: { field: "value", value: "2" } }, { outcome: "late" }],
  cohort: { cohort: "c1", state: "open", leases: 1, reported: 1 }
}

const staysCalm = async (subject: Subject) => {
  const server = new ReferenceServer()
  await server.start()
  try {
    await subject.call({ call: "new", with: { urls: [server.url], timeout, retryDelay: 1 } })
    for (const [index, body] of changed(leased).entries()) {
      const status = index % 3 === 2 ? 404 : 200
      server.faults = [{ status, body }]
      const given = { key: "k", n: 2, fallback: "Be." }
      const { milliseconds, problem, returned, thrown } = await subject.call({ call: "lease", as: "one", with: given })
      const place = JSON.stringify(body).slice(0, 1000)
      assert.isNull(thrown, place)
      assert.isBelow(milliseconds, timeout + slack, place)
      assert.strictEqual(Schema.decodeUnknownSync(Lease)(returned).n, 2, place)
      // oxlint-disable-next-line no-control-regex
      assert.notMatch(messageOf(problem), /[\u0000-\u001f\u007f-\u009f\u202e]|.{1001}/u)
      for (const sample of [0, 1])
        assert.isNull((await subject.call({ call: "reward", lease: "one", value: 1, with: { sample } })).thrown, place)
    }
    await settled(subject)
    for (const body of changed(rewarded)) {
      server.faults = [{ status: 200, body }]
      for (const lease of ["one", "two"])
        assert.isNull((await subject.call({ call: "report", lease, value: 1 })).thrown)
      await settled(subject)
    }
  } finally {
    await server.stop()
  }
}

const messageOf = (problem: Schema.Json): string =>
  Schema.decodeUnknownSync(Schema.Struct({ message: Schema.optionalKey(Schema.String) }))(problem).message ?? ""

/** Answers that take long to read, of 15 MB each. */
const bombs: ReadonlyArray<string> = ["[]", "{}"]
  .map((part) => `{"cohort":"c1","leases":[${`${part},`.repeat(5_000_000)}${part}]}`)
  .concat("[".repeat(7_500_000) + "]".repeat(7_500_000))

/** The counts after a flush, as soon as nothing is pending and they hold; at the latest after 2 s. */
const settled = async (subject: Subject, holds: (counts: typeof Counts.Type) => boolean = () => true) => {
  for (let attempt = 0; ; attempt++) {
    assert.strictEqual((await subject.call({ call: "flush" })).returned, 0)
    const counts = Schema.decodeUnknownSync(Counts)((await subject.call({ call: "counts" })).returned)
    if ((counts.pending === 0 && holds(counts)) || attempt === 100) return counts
    await wait(20)
  }
}

describe("the middleware of the AI SDK", () => {
  const retryable = Object.assign(new Error("busy"), { isRetryable: true })
  const params = { prompt: [], providerOptions: { inspo: { conversation: "talk" } } }

  /** What the server gets of one conversation. */
  const reportsOf = async (talk: (middleware: Instructing) => Promise<void>) => {
    const server = new ReferenceServer()
    await server.start()
    try {
      const inspo = new Inspo({ urls: [server.url], timeout: 2000, onProblem: () => {} })
      await talk(instruct(inspo, "support", { fallback: "Be." }))
      assert.strictEqual(await inspo.flush(), 0)
      return [...server.accepted.values()].map(({ reward }) => Struct.omit(reward, ["lease"]))
    } finally {
      await server.stop()
    }
  }

  const call = async (middleware: Instructing, error?: Error) => {
    await middleware.transformParams({ params })
    const doGenerate = () => (error === undefined ? Promise.resolve({ providerMetadata: {} }) : Promise.reject(error))
    return middleware.wrapGenerate({ doGenerate, params }).catch(() => ({ providerMetadata: {} }))
  }

  const stream = async (middleware: Instructing, stream: ReadableStream<StreamPart>, isCancelled = false) => {
    await middleware.transformParams({ params })
    const result = await middleware.wrapStream({ doStream: () => Promise.resolve({ stream }), params })
    if (isCancelled) return result.stream.cancel()
    for await (const _ of result.stream);
  }

  interface StreamPart {
    readonly type: string
    readonly error?: unknown
  }

  const streamOf = (...parts: ReadonlyArray<StreamPart>) => ReadableStream.from(parts)

  it("gives a lease back whose call fails, and reports one as failed that was answered before", async () => {
    for (const error of [new Error("gone"), retryable]) {
      assert.deepEqual(await reportsOf(async (middleware) => void (await call(middleware, error))), [
        { abandoned: true }
      ])
      const answeredBefore = async (middleware: Instructing) => {
        await call(middleware)
        await call(middleware, error)
      }
      assert.deepEqual(await reportsOf(answeredBefore), [{ failed: true }])
    }
  })

  it("takes the reward of a conversation whose call is made again, or that had an answer", async () => {
    for (const error of [new Error("gone"), retryable]) {
      const again = async (middleware: Instructing) => {
        await call(middleware, error)
        await call(middleware, error)
        const result = await call(middleware)
        await call(middleware, error)
        await middleware.report(result, 1)
      }
      assert.deepEqual(await reportsOf(again), [{ value: 1 }])
    }
    const answered = async (middleware: Instructing) => {
      const result = await call(middleware)
      await call(middleware, new Error("gone"))
      await middleware.report(result, 1)
    }
    assert.deepEqual(await reportsOf(answered), [{ value: 1 }])
    assert.deepEqual(await reportsOf(async (middleware) => void (await call(middleware))), [])
  })

  it("does so with streams that fail, break, end early or are cancelled", async () => {
    const broken = () => new ReadableStream<StreamPart>({ pull: (controller) => controller.error(new Error("reset")) })
    const failing = () => streamOf({ type: "error", error: "busy" }, { type: "finish" })
    for (const made of [failing, broken, () => streamOf({ type: "text-delta" }), () => streamOf()])
      assert.deepEqual(await reportsOf((middleware) => stream(middleware, made()).catch(() => {})), [
        { abandoned: true }
      ])
    assert.deepEqual(await reportsOf((middleware) => stream(middleware, streamOf({ type: "finish" }), true)), [
      { abandoned: true }
    ])
    assert.deepEqual(
      await reportsOf((middleware) => stream(middleware, streamOf({ type: "text-delta" }, { type: "finish" }))),
      []
    )
  })
})

for (const subject of [typescript(), python("sync"), python("asyncio")]) {
  const isSkipped = subject.name !== "TypeScript" && noPython !== null
  describe.skipIf(isSkipped)(`${subject.name}${isSkipped ? ` (${noPython})` : ""}`, () => {
    beforeAll(() => warm(subject))
    afterAll(() => subject.end())
    it("makes no agent fail, whatever a server answers", { timeout: 120_000 }, () => staysCalm(subject))

    it("keeps no agent waiting, however much a server answers", { timeout: 60_000 }, async () => {
      let bomb = Buffer.from("")
      const server = createServer((request, response) => {
        request.resume()
        response.end(bomb)
      }).listen(0, "127.0.0.1")
      try {
        await once(server, "listening")
        const address = server.address()
        const urls = [`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`]
        for (const text of bombs) {
          bomb = Buffer.from(text)
          await subject.call({ call: "new", with: { urls, timeout: 200, retryDelay: 1000 } })
          const asked = await subject.call({ call: "lease", with: { fallback: "Be." } })
          assert.deepInclude(asked.returned, { leased: false, text: "Be." })
          assert.isBelow(asked.milliseconds, 200 + slack)
          await subject.call({ call: "report", lease: "one", value: 1 })
          const flushing = await subject.call({ call: "flush", with: { timeout: 200 } })
          assert.isBelow(flushing.milliseconds, 200 + slack)
        }
      } finally {
        server.close()
        server.closeAllConnections()
      }
    })

    it("does not give back a lease that a second server answered before the first one", async () => {
      // Long enough for a second try on a busy machine.
      const given = 12 * timeout
      const server = new ReferenceServer()
      await server.start()
      const late = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", async () => {
          await wait(given / 2)
          const answer = await fetch(`${server.url}${request.url ?? ""}`, {
            method: "POST",
            body: Buffer.concat(chunks)
          }).catch(() => null)
          response.end(await answer?.text())
        })
      }).listen(0, "127.0.0.1")
      try {
        await once(late, "listening")
        const address = late.address()
        const port = typeof address === "object" ? address?.port : 0
        const urls = [`http://127.0.0.1:${port}`, server.url]
        await subject.call({ call: "new", with: { urls, timeout: given, retryDelay: 10 } })
        const { returned } = await subject.call({ call: "lease", as: "one", with: { key: "one", fallback: "Be." } })
        assert.isTrue(Schema.decodeUnknownSync(Lease)(returned).leased)
        await wait(given)
        await subject.call({ call: "reward", lease: "one", value: 1 })
        await settled(subject)
        assert.deepStrictEqual(
          [...server.accepted.values()].map(({ reward }) => reward.value),
          [1]
        )
      } finally {
        late.close()
        await server.stop()
      }
    })

    it(
      "is in time, never throws, and sends each reward once or counts it as dropped, under any fault",
      { timeout: 300_000 },
      async () => {
        longest.length = 0
        await fc.assert(
          fc.asyncProperty(fc.array(Turn, { minLength: 1, maxLength: 25 }), (turns) => holds(subject, turns)),
          { numRuns: runs, interruptAfterTimeLimit: 120_000 }
        )
        const sorted = longest.toSorted((a, b) => a - b)
        if (process.env["INSPO_FAULT_SCHEDULES"] !== undefined)
          console.log(
            `${subject.name}: ${sorted.length} calls, longest ${sorted.at(-1)?.toFixed(0)} ms, median ${sorted[Math.floor(sorted.length / 2)]?.toFixed(1)} ms`
          )
      }
    )
  })
}
