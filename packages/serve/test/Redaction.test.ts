import { assert, describe, it } from "@effect/vitest"
import { Refused, Settings } from "@inspo/cohorts"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import * as LivePopulation from "../src/live/LivePopulation.ts"
import * as Limits from "../src/wire/Limits.ts"
import * as Redaction from "../src/live/Redaction.ts"
import * as Redactor from "../src/live/Redactor.ts"
import { Effect, Result, Schema } from "effect"

const email = String.raw`[\w.+-]+@[\w.-]+`
const card = String.raw`\b(?:\d{4}[ -]?){4}\b`

const Text = Schema.Array(
  Schema.Literals(["ada@example.org", "4111 1111 1111 1111", "a secret of ", "\n", "nothing", "@", "🂡", " "])
)

/** Watches the loop: the longest that it was held at a stretch so far, in milliseconds of this thread's processor time. */
const longestHold = Effect.gen(function* () {
  let longest = 0
  let last = process.threadCpuUsage()
  const look = () => {
    const { system, user } = process.threadCpuUsage(last)
    longest = Math.max(longest, (user + system) / 1000)
    last = process.threadCpuUsage()
    next = setTimeout(look, 1)
  }
  let next = setTimeout(look, 1)
  yield* Effect.addFinalizer(() => Effect.sync(() => clearTimeout(next)))
  return Effect.sync(() => longest)
})

const made = (...patterns: ReadonlyArray<string>): Redaction.Redact => Result.getOrThrow(Redaction.make(patterns))

describe("redaction", () => {
  it.effect.prop("leaves no match of a pattern and never makes a text longer", [Text], ([parts]) =>
    Effect.sync(() => {
      const text = parts.join("")
      const redacted = made(email, card)(text)
      assert.notMatch(redacted, new RegExp(`${email}|${card}`, "u"))
      assert.isAtMost(redacted.length, text.length)
      if (!parts.some((part) => /[@\d]/u.test(part))) assert.strictEqual(redacted, text)
    })
  )

  it("takes time in proportion to a text, for any pattern", () => {
    for (const pattern of ["(a+)+$", "(a|a)*b", "(.*)(.*)(.*)x", "(?:a|aa)+$"]) {
      const text = `${"a".repeat(50_000)}!`
      const began = performance.now()
      made(`(?:${pattern})c`)(text)
      assert.isBelow(performance.now() - began, 5000, pattern)
    }
  })

  // Again where the machine is busy: work on the thread itself would hold the loop in every try.
  it.effect(
    "blocks the event loop for 50 ms at most with the longest text and the slowest patterns",
    () =>
      Effect.gen(function* () {
        const slow = String.raw`(?:\w*a\w{100}|\w*b\w{100})\d`
        const journal = yield* Journal
        yield* LivePopulation.begin(journal, { ...Settings.online(1), redact: [slow] }, ["the seed"])
        const live = yield* LivePopulation.open(journal)
        const held = yield* longestHold
        const transcript = "a".repeat(Limits.transcriptLength)
        const items = [{ lease: "none", sample: 0, value: 1 }]
        const all = process.cpuUsage()
        const before = yield* held
        yield* live.submit((now) => ({ _tag: "Reward", now, rewards: items }), { rewards: [{ transcript }] })
        const { user } = process.cpuUsage(all)
        assert.isBelow(Math.max(before, yield* held), 50)
        assert.isAbove(user / 1000, 250)
      }).pipe(Effect.scoped, Effect.provide(layerMemory, { local: true })),
    { retry: 2 }
  )

  it.live("is by the thread what it is by the patterns, in their order, and fails over what ends the thread", () =>
    Effect.gen(function* () {
      const redact = yield* Redactor.make
      const texts = ["ada@example.org", "", "4111 1111 1111 1111 of ada@example.org", "nothing"]
      const redacted = texts.map(made(email, card))
      assert.deepStrictEqual(yield* redact([email, card], texts), redacted)
      const died = yield* Effect.exit(redact(["("], texts))
      assert.include(String(died), "Nothing was stored")
      assert.deepStrictEqual(yield* redact([email, card], texts), redacted)
    }).pipe(Effect.scoped)
  )

  it.effect("blocks others for the texts of one sample at most", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* LivePopulation.begin(journal, { ...Settings.online(1), redact: [email, card] }, ["the seed"])
      let redacting = 0
      const live = yield* LivePopulation.open(journal, {
        redact: (text) => {
          redacting++
          return text
        }
      })
      const seen: Array<number> = []
      const other = Effect.sync(() => void seen.push(redacting))
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(other, Effect.yieldNow)))
      const rewards = Array.from({ length: 100 }, (_, at) => ({ feedback: `ada@example.org ${at}` }))
      const items = rewards.map((_, sample) => ({ lease: "none", sample, value: 1 }))
      yield* live.submit((now) => ({ _tag: "Reward", now, rewards: items }), { rewards })
      assert.strictEqual(redacting, 100)
      // Of what was redacted when, the other sees every or every second text.
      assert.isAtLeast(new Set(seen).size, 50)
    }).pipe(Effect.scoped, Effect.provide(layerMemory, { local: true }))
  )

  it.each([
    ["(?<=a)b", "look-around"],
    [String.raw`(a)\1`, "references"],
    ["(", "RE2"],
    ["a*", "empty"],
    ["a".repeat(1001), "1000 characters"],
    [String.raw`\w{1,1000}\w{1,1000}`, "smaller"]
  ])("refuses %s by its field, with what to do", (pattern, expected) => {
    const refused = Result.getOrThrow(Result.flip(Redaction.make(["fine", pattern])))
    assert.isTrue(refused instanceof Refused)
    assert.deepEqual([refused.code, refused.field], ["invalid", "redact[1]"])
    assert.include(refused.expected, expected)
  })

  it.effect("comes before texts are stored: that of the host, then that of the population as it is set now", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const settings = { ...Settings.online(1), redact: [email] }
      const refused = yield* Effect.flip(LivePopulation.begin(journal, { ...settings, redact: ["("] }, ["the seed"]))
      assert.strictEqual(refused._tag, "Refused")
      yield* LivePopulation.begin(journal, settings, ["the seed"])
      const live = yield* LivePopulation.open(journal, { redact: (text) => text.replaceAll("Ada", "█") })
      const tell = Effect.fnUntraced(function* (key: string) {
        const request = { key, n: 1, stratum: "all", sticky: null, question: null, instructions: 1 }
        const said = `Ada, ada@example.org, 0123`
        const answer = yield* live.submit(
          (now) => ({ _tag: "Lease", now, cohort: null, phase: "train", isFullBatch: false, requests: [request] }),
          { leases: [{ question: { text: said, goldenAnswers: [said] } }] }
        )
        const [lease] = answer._tag === "Leases" ? answer.leases.map((one) => one.lease) : []
        yield* live.submit(
          (now) => ({ _tag: "Reward", now, rewards: [{ lease: lease ?? "", sample: null, value: 1 }] }),
          {
            rewards: [{ feedback: said, goldenAnswers: [said], transcript: [{ role: "user", content: said }] }]
          }
        )
        const rows = [...(yield* journal.listRecords("of-lease")), ...(yield* journal.listRecords("of-reward"))]
        return JSON.stringify(rows.filter((row) => row.key.includes(`/${key}#`)))
      })
      const first = yield* tell("k1")
      assert.notMatch(first, /Ada|ada@/u)
      assert.lengthOf(first.match(/█, █, 0123/gu) ?? [], 5)
      const unusable = yield* Effect.flip(
        live.submit((now) => ({ _tag: "Configure", now, settings: { ...settings, redact: ["(?=a)"] } }))
      )
      assert.strictEqual(unusable._tag, "Refused")
      yield* live.submit((now) => ({ _tag: "Configure", now, settings: { ...settings, redact: [email, "\\d+"] } }))
      assert.lengthOf((yield* tell("k2")).match(/█, █, █/gu) ?? [], 5)
    }).pipe(Effect.scoped, Effect.provide(layerMemory, { local: true }))
  )
})
