import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { RandomStream } from "@inspo/domain"
import { Effect, Schema } from "effect"
import { compare, type CompareOptions } from "../src/index.ts"
import * as Comparison from "../src/Comparison.ts"
import { type Ask, type Event } from "../src/Event.ts"
import * as Stored from "../src/Stored.ts"
import { bad, type Case, cases, good, neutral, succeeds } from "./support/Agents.ts"

const control = "Name the capital."

let directory = ""
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-compare-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const options = (
  candidate: string,
  more: Partial<CompareOptions<string, Case, string>> = {}
): CompareOptions<string, Case, string> => ({
  control,
  candidates: [`${control} ${candidate}`],
  cases: cases(120),
  agent: (prompt, one) => (succeeds(prompt, one) ? "right" : "wrong"),
  score: (output) => Number(output === "right"),
  ...more
})

const compared = (candidate: string, more: Partial<CompareOptions<string, Case, string>> = {}) =>
  Effect.promise(() => compare(options(candidate, more)))

describe("compare", () => {
  it.live("says better, no worse and worse, and stops as soon as it knows", () =>
    Effect.gen(function* () {
      for (const [candidate, verdict] of [
        [good, "better"],
        [neutral, "no-worse"],
        [bad, "worse"]
      ] as const) {
        const { calls, candidates, cases: asked, report } = yield* compared(candidate)
        const [found] = candidates
        assert.strictEqual(found?.verdict, verdict)
        assert.isNull(found?.needed ?? null)
        assert.isBelow(asked.asked, 120)
        assert.strictEqual(calls, 2 * asked.asked)
        assert.include(report(), "█")
      }
    })
  )

  it.prop(
    "asks all cases after a process ended in the middle, unless its budget says otherwise",
    { lost: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8 })), isLimited: Schema.Boolean },
    ({ isLimited, lost }) => {
      const settings = {
        samples: 1,
        margin: 0.05,
        looks: "final",
        requirement: null,
        usd: null,
        randomSeed: 1
      } as const
      const setup = Comparison.make({ ...settings, arms: ["A", "B"], calls: isLimited ? 24 : null }, 12)
      let state = Comparison.begin(setup)
      const calls = Array.from({ length: lost }, (_, nth) => ({ kind: "agent", key: `${nth}`, usd: 0 }) as const)
      for (let due = Comparison.next(state); due._tag !== "Conclude"; due = Comparison.next(state)) {
        if (due._tag === "Decide") {
          state = Comparison.apply(Comparison.apply(state, due.event), { _tag: "Interrupted", calls })
          continue
        }
        for (const ask of due.asks.slice(0, Comparison.callsLeft(state))) {
          state = Comparison.apply(state, { _tag: "Obtained", ...ask, output: "", isWhole: true, usd: 0 })
          state = Comparison.apply(state, { _tag: "Answered", ...ask, score: 1, feedback: null, usd: 0 })
        }
        if (Comparison.callsLeft(state) <= 0) state = Comparison.apply(state, { _tag: "RoundCut" })
      }
      assert.strictEqual(state.made, isLimited ? 24 : 24 + lost)
      assert.strictEqual(
        Comparison.pairsOf(state, Comparison.others(setup)[0] ?? Comparison.control).length === 12,
        !isLimited
      )
      assert.isAtMost(state.made, Comparison.mostCalls(state))
    }
  )

  it.live("refuses a bound on a number that no answer comes with, after the first of them", () =>
    Effect.gen(function* () {
      let calls = 0
      const asking = (constraint: string) =>
        compare(
          options(neutral, {
            constraints: [constraint],
            agent: () => `${(calls += 1)}`,
            score: () => ({ score: 1, metrics: { tone: 0.5 } })
          })
        )
      const message = yield* Effect.promise(() => asking("tune=0.5").catch(String))
      assert.include(message, "constraints is tune; expected a number that answers come with: ")
      assert.include(message, "tone")
      assert.isAtMost(calls, 16)
      assert.include((yield* Effect.promise(() => asking("tone=0.6"))).report(), "tone=0.6")
    })
  )

  it.live("ends when a requirement is known, and says so", () =>
    Effect.gen(function* () {
      const met = (candidate: string, requirement: Comparison.Requirement, count = 120) =>
        Effect.map(compared(candidate, { requirement, cases: cases(count) }), ({ isMet }) => isMet)
      assert.isTrue(yield* met(good, "better"))
      assert.isFalse(yield* met(bad, "better"))
      assert.isNull(yield* met(neutral, "better"))
      assert.isTrue(yield* met(neutral, "no-worse"))
      assert.isFalse(yield* met(bad, "no-worse"))
      assert.isNull(yield* met(neutral, "no-worse", 10))
    })
  )

  it.live("says how many cases would decide where these do not", () =>
    Effect.gen(function* () {
      const { candidates } = yield* compared(good, { cases: cases(6) })
      assert.strictEqual(candidates[0]?.verdict, "undecided")
      const needed = candidates[0]?.needed ?? assert.fail("nothing is needed")
      assert.isAbove(needed.cases, 6)
      assert.strictEqual(needed.calls, 2 * needed.cases)
    })
  )

  it.live("looks once where it is asked to, and is exact for few cases", () =>
    Effect.gen(function* () {
      const always = { agent: (prompt: string) => (prompt === control ? "wrong" : "right"), looks: "final" } as const
      assert.strictEqual((yield* compared(good, { ...always, cases: cases(5) })).candidates[0]?.verdict, "better")
      assert.strictEqual((yield* compared(good, { ...always, cases: cases(4) })).candidates[0]?.verdict, "undecided")
    })
  )

  it.live("counts repeated answers to a case as one difference", () =>
    Effect.gen(function* () {
      const all = { cases: cases(40), looks: "final" } as const
      const one = yield* compared(good, all)
      const many = yield* compared(good, { ...all, samples: 3 })
      assert.strictEqual(many.calls, 3 * one.calls)
      assert.strictEqual(one.candidates[0]?.cases, 40)
      assert.strictEqual(many.candidates[0]?.cases, 40)
      assert.deepStrictEqual(one.candidates[0]?.gain, many.candidates[0]?.gain)
    })
  )

  it.live("shares the risk between several candidates, and asks no more of what is settled", () =>
    Effect.gen(function* () {
      const asked = new Map<string, number>()
      const { bound, candidates } = yield* compared(good, {
        candidates: [good, bad, neutral].map((one) => `${control} ${one}`),
        agent: (prompt, one) => {
          asked.set(prompt, (asked.get(prompt) ?? 0) + 1)
          return succeeds(prompt, one) ? "right" : "wrong"
        }
      })
      assert.closeTo(bound, Math.log10(60), 1e-12)
      assert.deepStrictEqual(
        candidates.map(({ verdict }) => verdict),
        ["better", "worse", "no-worse"]
      )
      const counts = candidates.map(({ prompt }) => (typeof prompt === "string" ? asked.get(prompt) : null) ?? 0)
      assert.isAbove(asked.get(control) ?? 0, Math.min(...counts))
    })
  )

  it.live("measures the noise of a prompt that is compared with itself", () =>
    Effect.gen(function* () {
      const luck = RandomStream.make(3, ["noise"])
      const { candidates } = yield* compared("", {
        candidates: [control],
        agent: () => (luck.next() < 0.5 ? "right" : "wrong")
      })
      const noise = candidates[0]?.noise ?? assert.fail("no noise")
      assert.closeTo(noise.difference, 0.5, 0.2)
      assert.isAtMost(noise.falseAlarms, 0.13)
      assert.isAbove(noise.falseAlarmsOfMeans, 0.5)
      assert.isAbove(noise.casesForMargin ?? 0, 500)
      const still = (yield* compared("", { candidates: [control] })).candidates[0]?.noise
      assert.deepStrictEqual([still?.difference, still?.falseAlarms, still?.falseAlarmsOfMeans], [0, 0, 0])
    })
  )

  it.live("pays no answer of a cache again, and says how many there were", () =>
    Effect.gen(function* () {
      let made = 0
      const cache = { directory: join(directory, "cache"), agent: { model: "m" } }
      const counting = {
        cache,
        agent: (prompt: string, one: Case) => {
          made += 1
          return succeeds(prompt, one) ? "right" : "wrong"
        }
      }
      const first = yield* compared(good, counting)
      const paid = made
      const second = yield* compared(good, counting)
      assert.strictEqual(made, paid)
      assert.deepStrictEqual([first.cached, second.cached, second.calls], [0, paid, 0])
      assert.deepStrictEqual(second.candidates[0]?.gain, first.candidates[0]?.gain)
      assert.include(second.report(), `${paid} answers are those of earlier comparisons`)
      const other = yield* compared(good, { ...counting, cache: { ...cache, agent: { model: "other" } } })
      assert.strictEqual(other.cached, 0)
    })
  )

  it.live("gives a prompt that is compared with itself other answers, also from a cache", () =>
    Effect.gen(function* () {
      const luck = RandomStream.make(5, ["self"])
      const self = {
        candidates: [control],
        looks: "final" as const,
        cases: cases(30),
        cache: { directory: join(directory, "self"), agent: {} },
        agent: () => (luck.next() < 0.5 ? "right" : "wrong")
      }
      const [first, second] = [yield* compared("", self), yield* compared("", self)]
      assert.strictEqual(second.calls, 0)
      assert.isAbove(first.candidates[0]?.noise?.difference ?? 0, 0)
      assert.deepStrictEqual(second.candidates[0]?.noise, first.candidates[0]?.noise)
    })
  )

  it.live("counts a case only with all its answers", () =>
    Effect.gen(function* () {
      const { candidates } = yield* compared(neutral, { samples: 3, budget: { calls: 11 }, concurrency: 1 })
      assert.strictEqual(candidates[0]?.cases, 1)
    })
  )

  it.live("continues in its file without a second call, and refuses other settings", () =>
    Effect.gen(function* () {
      const file = join(directory, "kept.jsonl")
      let left = 31
      const failing = {
        file,
        retries: 0,
        concurrency: 1,
        agent: (prompt: string, one: Case) => {
          if (left <= 0) throw Object.assign(new Error("stopped"), { status: 401 })
          left -= 1
          return succeeds(prompt, one) ? "right" : "wrong"
        }
      }
      const error = yield* Effect.flip(Effect.tryPromise(() => compare(options(good, failing))))
      assert.include(String(error.cause), "stopped")
      const whole = yield* compared(good)
      left = whole.calls - 31
      const found = yield* compared(good, failing)
      assert.strictEqual(left, 0)
      assert.deepStrictEqual(found.candidates[0]?.gain, whole.candidates[0]?.gain)
      const refused = yield* Effect.flip(Effect.tryPromise(() => compare(options(good, { ...failing, margin: 0.1 }))))
      assert.include(String(refused.cause), "belongs to a comparison with other margin")
    })
  )

  it.live("is read from its file while it runs, and shows what it returns when it is done", () =>
    Effect.gen(function* () {
      const file = join(directory, "read.jsonl")
      const { report: _, ...result } = yield* compared(good, { file, cases: cases(60), randomSeed: 3 })
      const payloads = yield* Effect.promise(() => readFile(file, "utf8"))
      const lines = payloads.split("\n")
      const half = join(directory, "half.jsonl")
      yield* Effect.promise(() => writeFile(half, `${lines.slice(0, lines.length / 2).join("\n")}\n`))
      const whole = yield* Stored.read(file)
      const running = yield* Stored.read(half)
      const again = yield* Stored.read(file, running)
      for (const stored of [whole, again]) {
        if (stored._tag === "Search") assert.fail("it is a comparison")
        const { report: said, ...found } = stored.result
        assert.deepStrictEqual(found, result)
        assert.isTrue(stored.isDone)
        assert.include(said(), stored.sentenceOf(result.candidates[0] ?? assert.fail("there is a candidate")))
      }
      assert.isFalse(running._tag === "Search" || running.isDone)
    })
  )

  it.live("never passes a budget, and decides nothing without an answer", () =>
    Effect.gen(function* () {
      const { calls, candidates, isCut } = yield* compared(neutral, { budget: { calls: 11 } })
      assert.strictEqual(calls, 11)
      assert.isTrue(isCut)
      assert.strictEqual(candidates[0]?.cases, 5)
      const paid = yield* compared(neutral, {
        agent: (_prompt, _one, { spend }) => {
          spend(0.1)
          return "right"
        },
        atMost: () => 0.1,
        budget: { usd: 0.95 }
      })
      assert.isAtMost(paid.usd, 0.95)
    })
  )

  it.live("calls no candidate better that fails a protected case which the control solves, and names it", () =>
    Effect.gen(function* () {
      const protecting = (agent: (prompt: string, one: Case) => string) =>
        Effect.map(
          compared(good, {
            cases: cases(60).map((one) => (one.id < 4 ? { ...one, protected: true } : one)),
            requirement: "better",
            agent
          }),
          ({ candidates: [found], report }) => ({ ...(found ?? assert.fail("no candidate")), text: report() })
        )
      const answer = (prompt: string, one: Case) => prompt !== control || succeeds(prompt, one)
      const kept = yield* protecting((prompt, one) => (answer(prompt, one) ? "right" : "wrong"))
      assert.deepInclude(kept, { verdict: "better", isMet: true, lost: [], open: 0 })
      const losing = yield* protecting((prompt, one) =>
        one.id === 2 ? (prompt === control ? "right" : "wrong") : answer(prompt, one) ? "right" : "wrong"
      )
      assert.deepInclude(losing, {
        verdict: "worse",
        isMet: false,
        lost: [{ case: { id: 2, protected: true }, control: 1, candidate: 0 }]
      })
      assert.isAbove(losing.gain.lower, 0)
      assert.include(losing.text, "It fails 1 protected case that the control solves.")
      const luck = RandomStream.make(1, ["luck"])
      const noisy = yield* protecting((prompt, one) =>
        (one.id === 2 ? luck.next() < 0.5 : answer(prompt, one)) ? "right" : "wrong"
      )
      assert.deepInclude(noisy, { verdict: "better", lost: [] })
    })
  )

  it.live("keeps a verdict open until its constraints are known, and calls a candidate worse that breaks one", () =>
    Effect.gen(function* () {
      const bounded = (...constraints: ReadonlyArray<string>) =>
        Effect.map(
          compared(neutral, {
            constraints,
            cases: cases(300),
            requirement: "no-worse",
            agent: (prompt, one, { spend }) => {
              spend((prompt === control ? 2 : 1.5) + (one.id % 3) / 10)
              return succeeds(prompt, one) ? "right" : "wrong"
            },
            score: (output, { id }) => ({ score: Number(output === "right"), metrics: { tokens: 100 + (id % 10) } })
          }),
          ({ candidates: [found], report }) => ({ ...(found ?? assert.fail("no candidate")), text: report() })
        )
      const cheaper = yield* bounded("usd=-10%", "tokens.p90=105")
      assert.deepInclude(cheaper, { verdict: "worse", isMet: false })
      assert.deepStrictEqual(
        cheaper.constraints.map(({ isMet }) => isMet),
        [true, false]
      )
      assert.include(cheaper.text, "It breaks tokens.p90=105.")
      assert.deepInclude(yield* bounded("usd=-10%", "tokens=110", "latency.p50=5s"), {
        verdict: "no-worse",
        isMet: true
      })
      assert.deepInclude(yield* bounded("length=+0%"), { verdict: "worse", isMet: false })
      for (const text of ["usd", "usd=5%", "usd=+5", "latency.p95=+5%", "length.p50=3", "usd=x"])
        assert.include(
          String(
            (yield* Effect.flip(Effect.tryPromise(() => compare(options(neutral, { constraints: [text] }))))).cause
          ),
          "METRIC=BOUND"
        )
    })
  )

  it.live("keeps what was measured of an answer in the cache", () =>
    Effect.gen(function* () {
      const measured = {
        constraints: ["usd=-10%"],
        looks: "final" as const,
        cases: cases(30),
        cache: { directory: join(directory, "measured"), agent: {} },
        agent: (prompt: string, _one: Case, { spend }: { readonly spend: (usd: number) => void }) => {
          spend(prompt === control ? 2 : 1)
          return "right"
        }
      }
      const [first, second] = [yield* compared(neutral, measured), yield* compared(neutral, measured)]
      assert.strictEqual(second.calls, 0)
      assert.strictEqual(first.candidates[0]?.constraints[0]?.value, -0.5)
      assert.deepStrictEqual(second.candidates[0]?.constraints, first.candidates[0]?.constraints)
    })
  )

  it.live("goes on where a case fails in all answers of a round, and stops where the control has none", () =>
    Effect.gen(function* () {
      const failing = (isBroken: (prompt: string, one: Case) => boolean, count = 20) =>
        options(good, {
          retries: 0,
          samples: 4,
          looks: "anytime",
          cases: cases(count),
          agent: (prompt, one) => {
            if (isBroken(prompt, one)) throw new Error("broken")
            return "right"
          }
        })
      for (const bad of [0, 7, 19]) {
        const { candidates } = yield* Effect.promise(() => compare(failing((_, { id }) => id === bad)))
        assert.strictEqual(candidates[0]?.missing, 8)
      }
      for (const given of [failing((prompt) => prompt === control), failing(() => true, 1)]) {
        const error = yield* Effect.flip(Effect.tryPromise(() => compare(given)))
        assert.include(String(error.cause), "broken")
      }
    })
  )

  it.live("refuses what programs without types can give", () =>
    Effect.gen(function* () {
      for (const [name, given] of [
        ["candidates", '"PQ"'],
        ["identity", '{"n":5}'],
        ["randomSeed", '"a"'],
        ["budget", '{"usd":"1"}'],
        ["score", "null"]
      ] as const) {
        const wrong = Object.assign(options(good), { [name]: JSON.parse(given) })
        const { cause } = yield* Effect.flip(Effect.tryPromise(() => compare(wrong)))
        assert.match(String(cause), new RegExp(`${name}[^ ]* is .*; expected`, "u"))
      }
    })
  )

  it.live("counts a missing score against what is claimed", () =>
    Effect.gen(function* () {
      const agent = (prompt: string, { id }: Case) => {
        if (prompt !== control && id % 2 === 0) throw new Error("no answer")
        return prompt === control ? "wrong" : "right"
      }
      const [found] = (yield* compared(good, { agent, retries: 0, cases: cases(40) })).candidates
      assert.isAbove(found?.missing ?? 0, 0)
      assert.isAtMost(found?.gain.lower ?? 1, 0.5)
      assert.strictEqual(found?.gain.upper, 1)
    })
  )
})

const Scores = Schema.Array(Schema.Literals([0, 0.5, 1])).check(Schema.isMinLength(4), Schema.isMaxLength(60))

/** A comparison whose answers to a case are the scores of two prompts. */
const play = (
  scores: (ask: Ask) => number,
  count: number,
  requirement: Comparison.Requirement | null = null
): ReadonlyArray<Comparison.State> => {
  const setup = Comparison.make(
    {
      arms: ["A", "B"],
      samples: 1,
      margin: 0.1,
      looks: "anytime",
      requirement,
      calls: 2 * count,
      usd: null,
      randomSeed: 1
    },
    count
  )
  const states = [Comparison.begin(setup)]
  for (;;) {
    const state = states.at(-1) ?? Comparison.begin(setup)
    const due = Comparison.next(state)
    if (due._tag === "Conclude") return states
    const events: ReadonlyArray<Event> =
      due._tag === "Decide"
        ? [due.event]
        : due.asks.flatMap((ask): ReadonlyArray<Event> => [
            { _tag: "Obtained", ...ask, output: "", isWhole: true, usd: 0 },
            { _tag: "Answered", ...ask, score: scores(ask), feedback: null, usd: 0 }
          ])
    states.push(events.reduce(Comparison.apply, state))
  }
}

describe("a comparison as a state machine", () => {
  it.effect.prop("asks both prompts the same cases, once each, and looks after each round", [Scores], ([scores]) =>
    Effect.sync(() => {
      const states = play(
        ({ case: at, prompt }) => (prompt === Comparison.control ? 0.5 : (scores[at] ?? 0)),
        scores.length
      )
      const last = states.at(-1) ?? assert.fail("no state")
      const [control, other] = [Comparison.control, ...Comparison.others(last.setup)].map((prompt) =>
        [...last.answers.outcomes].filter((one) => one.prompt === prompt).map((one) => one.case)
      )
      assert.deepStrictEqual(new Set(control), new Set(other))
      assert.strictEqual(new Set(control).size, control?.length)
      assert.strictEqual(last.looks.length, last.rounds)
    })
  )

  it.effect.prop("says the reverse of the reversed scores", [Scores], ([scores]) =>
    Effect.sync(() => {
      const of = (isReversed: boolean) => {
        const states = play(
          ({ case: at, prompt }) => ((prompt === Comparison.control) === isReversed ? (scores[at] ?? 0) : 0.5),
          scores.length
        )
        return states.at(-1)?.shown[0] ?? new Set()
      }
      const [shown, reversed] = [of(false), of(true)]
      assert.strictEqual(shown.has("better"), reversed.has("worse"))
      assert.strictEqual(shown.has("no-gain"), reversed.has("no-worse"))
    })
  )

  it("keeps what it showed once", () => {
    const seen: Array<number> = []
    const states = play(
      ({ case: at, prompt }) => {
        if (!seen.includes(at)) seen.push(at)
        return prompt === Comparison.control || seen.indexOf(at) < 60 ? 1 : 0
      },
      84,
      "better"
    )
    assert.isTrue(states.some(({ shown }) => shown[0]?.has("no-worse")))
    const last = states.at(-1) ?? assert.fail("no state")
    assert.isTrue(last.shown[0]?.has("no-worse"))
    assert.isBelow(last.looks.at(-1)?.others[0]?.evidence["no-worse"] ?? 0, Math.log(20))
  })
})
