/** @module-tag deep */
import { createServer } from "node:http"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { RealServer } from "./RealServer.ts"
import { Fault, ReferenceServer, Setup } from "./ReferenceServer.ts"
import { Call, noPython, python, type Subject, type Outcome, typescript, warm } from "./Subject.ts"

const Expected = Schema.Struct({
  ...Call.fields,
  /** Addresses by name: `live`, `dead`, `hanging`, `page`; others unchanged. */
  urls: Schema.optionalKey(Schema.Array(Schema.String)),
  returns: Schema.optionalKey(Schema.Json),
  throws: Schema.optionalKey(Schema.String),
  /** In milliseconds, besides {@link slack}. */
  within: Schema.optionalKey(Schema.Int)
})

const Step = Schema.Union([
  Expected,
  Schema.Struct({ server: Schema.Literals(["stop", "start"]) }),
  Schema.Struct({ faults: Schema.Array(Fault) }),
  Schema.Struct({ sleep: Schema.Int }),
  /** The requests that the server handled since the last such step. */
  Schema.Struct({ sent: Schema.Array(Schema.Json) }),
  Schema.Struct({ accepted: Schema.Array(Schema.Record(Schema.String, Schema.Json)) }),
  /** The kinds of reported problems, sorted. */
  Schema.Struct({ problems: Schema.Array(Schema.String) }),
  /** The last problem that it reported. */
  Schema.Struct({ problem: Schema.Json })
])

const Scenario = Schema.Struct({
  name: Schema.String,
  server: Schema.optionalKey(Setup),
  steps: Schema.Array(Step)
})

const read = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, name: string): S["Type"] =>
  Schema.decodeUnknownSync(Schema.fromJsonString(schema))(
    readFileSync(new URL(`../../clients/suite/${name}.json`, import.meta.url), "utf8")
  )

/** Extra time for a busy machine, in milliseconds. */
const slack = 1500

/** The timeout of the suite's clients, in milliseconds; the real server commits before it answers. */
const timeouts = { reference: 600, real: 1500 }

/** Fields that the reference server generates, or still has of a closed cohort. */
const chosen = new Set(["id", "lease", "leases", "probability", "reported"])

/** Asserts that `found` contains `expected`; `*` matches anything. */
const assertHolds = (found: unknown, expected: unknown, place: string, isReal = false): void => {
  if (expected === "*") assert.isOk(found, place)
  else if (Array.isArray(expected)) {
    assert.isArray(found, place)
    assert.strictEqual((found as ReadonlyArray<unknown>).length, expected.length, `${place}: ${JSON.stringify(found)}`)
    for (const [index, one] of expected.entries())
      assertHolds((found as ReadonlyArray<unknown>)[index], one, `${place}[${index}]`, isReal)
  } else if (typeof expected === "object" && expected !== null) {
    assert.isObject(found, place)
    for (const [key, value] of Object.entries(expected))
      if (!isReal || !chosen.has(key))
        assertHolds((found as Readonly<Record<string, unknown>>)[key], value, `${place}.${key}`, isReal)
  } else assert.strictEqual(found, expected, place)
}

const strangers = async () => {
  const hanging = createServer(() => {})
  const page = createServer((_, response) => response.end("<html>Sign in</html>"))
  for (const server of [hanging, page]) {
    server.listen(0, "127.0.0.1")
    server.unref()
    await once(server, "listening")
  }
  const urlOf = (server: typeof page) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { hanging: urlOf(hanging), page: urlOf(page), dead: "http://127.0.0.1:1" }
}

const { dead, hanging, page } = await strangers()

const play = async (
  subject: Subject,
  { server: setup, steps }: typeof Scenario.Type,
  server: ReferenceServer = new ReferenceServer(setup)
): Promise<void> => {
  const isReal = server instanceof RealServer
  const timeout = isReal ? timeouts.real : timeouts.reference
  await server.start()
  let sent = 0
  let outcome: Outcome | undefined
  try {
    for (const [index, step] of steps.entries()) {
      const place = `${subject.name}, step ${index}`
      if ("call" in step) {
        const { returns, throws = null, urls = ["live"], within, ...call } = step
        const places: Readonly<Record<string, string>> = { live: server.url, dead, hanging, page }
        const made =
          call.call === "new"
            ? { timeout, retryDelay: 50, urls: urls.map((url) => places[url] ?? url), ...call.with }
            : call.with
        outcome = await subject.call({ ...call, ...(made === undefined ? {} : { with: made }) })
        assert.strictEqual(outcome.thrown, throws, place)
        if (returns !== undefined) assertHolds(outcome.returned, returns, place, isReal)
        const isTimed = ["lease", "leases", "incumbent"].includes(call.call)
        if (within !== undefined || isTimed) assert.isBelow(outcome.milliseconds, (within ?? timeout) + slack, place)
      } else if ("server" in step) await (step.server === "stop" ? server.stop() : server.start())
      else if ("faults" in step) server.faults = step.faults
      else if ("sleep" in step) await new Promise((done) => setTimeout(done, step.sleep))
      else if ("sent" in step) {
        assertHolds(server.sent.slice(sent), step.sent, place, isReal)
        sent = server.sent.length
      } else if ("accepted" in step)
        assertHolds(
          [...server.accepted.values()].map(({ key, reward, sample }) => ({ key, ...reward, sample })),
          step.accepted,
          place,
          isReal
        )
      else if ("problem" in step) assertHolds((await subject.call({ call: "counts" })).problem, step.problem, place)
      else {
        outcome = await subject.call({ call: "counts" })
        assert.deepStrictEqual([...new Set(outcome.problems)].sort(), step.problems, place)
      }
    }
  } finally {
    await server.stop()
  }
}

const scenarios = ["leases", "rewards", "trainers", "recovery"].flatMap((name) => read(Schema.Array(Scenario), name))
const faults = read(Schema.Array(Schema.Struct({ name: Schema.String, fault: Fault })), "faults")

/** Under any fault the call returns an instruction in time, and rewards are sent afterwards. */
const through = (fault: Fault): typeof Scenario.Type => {
  // A broken connection is retried once.
  const faults = fault === "refuse" || fault === "half" || fault === "lost" ? [fault, fault] : [fault]
  return {
    name: "",
    steps: [
      { call: "new" },
      { call: "lease", as: "a", with: { key: "k" }, returns: { leased: true } },
      { faults },
      { call: "lease", with: { fallback: "Be." }, returns: { leased: false, text: "Be brief." } },
      { faults },
      { call: "incumbent", returns: { fresh: false, wording: "Be brief." } },
      // These would delay a reward for ten seconds.
      { faults: fault === "hang" || fault === "endless" ? [] : [...faults, ...faults] },
      { call: "reward", lease: "a", value: 1 },
      { call: "flush", returns: 0, within: 5000 },
      { call: "counts", returns: { pending: 0, dropped: 0, refused: 0 } },
      { accepted: [{ key: "k", value: 1 }] }
    ]
  }
}

/**
 * Whether the real server can play a scenario: one without a given draw, size limit, lease id or fault, which only the
 * reference server has.
 */
const isPlayable = ({ server = {}, steps }: typeof Scenario.Type): boolean =>
  JSON.stringify(server.instruction) === JSON.stringify(server.incumbent) &&
  server.bodyLimit === undefined &&
  server.probability === undefined &&
  server.replaces === undefined &&
  server.further === undefined &&
  !steps.some(
    (step) =>
      "faults" in step ||
      ("call" in step &&
        (step.call === "report" || step.call === "rewind" || step.with?.["maxQueuedCharacters"] !== undefined))
  )

/** A trainer names the cohort that it leases from. */
const profileOf = ({ steps }: typeof Scenario.Type): "online" | "trainer" =>
  steps.some((step) => "call" in step && step.call.startsWith("lease") && step.with?.["cohort"] !== undefined)
    ? "trainer"
    : "online"

const playReally = async (subject: Subject, scenario: typeof Scenario.Type): Promise<void> => {
  const server = new RealServer(scenario.server ?? {}, profileOf(scenario))
  try {
    await play(subject, scenario, server)
  } finally {
    await server.end()
  }
}

const subjects = [typescript(), python("sync"), python("asyncio")]

for (const subject of subjects) {
  const isPython = subject.name !== "TypeScript"
  describe.skipIf(isPython && noPython !== null)(
    `${subject.name}${isPython && noPython !== null ? ` (${noPython})` : ""}`,
    () => {
      beforeAll(() => warm(subject))
      afterAll(() => subject.end())
      for (const scenario of scenarios) it(`agrees that ${scenario.name}`, () => play(subject, scenario))
      for (const scenario of scenarios.filter(isPlayable))
        it(`agrees with the real server that ${scenario.name}`, () => playReally(subject, scenario))
      for (const { fault, name } of faults) it(`gets through ${name}`, () => play(subject, through(fault)))
    }
  )
}
