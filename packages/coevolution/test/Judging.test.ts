import { assert, describe, it } from "@effect/vitest"
import { type Algorithm, EventLog, inconsistency, type RunEvent } from "@inspo/coevolution"
import type { Engine, TrainRequest } from "@inspo/engine"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Ledger } from "@inspo/ledger"
import { type JudgeModel, JudgeModels, RewardError } from "@inspo/reward"
import { Effect, Hash, Layer, Schema } from "effect"
import { judge, judged } from "./support/ScriptedJudge.ts"
import { algorithm, runOn } from "./support/ScriptedRun.ts"

const own: Algorithm = {
  ...algorithm,
  schedule: { ...algorithm.schedule, steps: 3, evolveEvery: 0, pruneEvery: 0 },
  evaluation: { ...algorithm.evaluation, questions: 0 },
  // Of two members, standardised advantages differ in nothing but their signs.
  train: { ...algorithm.train, advantage: { name: "centred" } }
}
const credited = (credit: Algorithm["train"]["credit"]): Algorithm => ({ ...own, train: { ...own.train, credit } })
const shaped = (shaping: Algorithm["reward"]["shaping"]): Algorithm => ({ ...own, reward: { ...own.reward, shaping } })

const reflecting = (algorithm: Algorithm): Algorithm => ({
  ...algorithm,
  rollout: { ...algorithm.rollout, agent: { name: "reflect" } }
})

const settings: ReadonlyArray<readonly [string, Algorithm]> = [
  ["tournament", shaped({ name: "tournament", ...judged })],
  ["rubric", shaped({ name: "rubric", cap: 3, ...judged })],
  ["flawed", shaped({ name: "flawed", penalty: 0.5, ...judged })],
  ["key-turns", credited({ name: "key-turns", gamma: 0.99, ...judged })],
  ["stages", credited({ name: "stages", gamma: 1, epsilon: 1e-6, ...judged })],
  ["reflections", reflecting(credited({ name: "reflections", epsilon: 1e-6, ...judged }))]
]

const recorded = (algorithm: Algorithm, model: JudgeModel, budget?: Ledger.Limits) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    yield* runOn(algorithm, Layer.succeed(Journal, journal), undefined, budget === undefined ? {} : { budget }).pipe(
      Effect.provideService(JudgeModels, () => Effect.succeed(model))
    )
    return { events: yield* EventLog.read(journal), spent: Ledger.summarize(yield* journal.ledger).total, journal }
  }).pipe(Effect.provide(layerMemory, { local: true }))

const findings = (events: ReadonlyArray<RunEvent>) =>
  events.flatMap((event) => (event._tag === "TrainingPlanned" && event.findings !== undefined ? [event.findings] : []))

const batches = (events: ReadonlyArray<RunEvent>) =>
  events.flatMap((event) => (event._tag === "TrainingPlanned" ? [event.batchHash] : []))

describe("a judge of groups or turns", () => {
  it.effect.each(settings)("has its verdicts in the events and its calls in the ledger, %s", ([, algorithm]) =>
    Effect.gen(function* () {
      assert.isNull(inconsistency(algorithm))
      const asked = new Map<string, number>()
      const { events, spent } = yield* recorded(algorithm, judge(asked))
      const all = findings(events)
      assert.lengthOf(all, 3)
      const sum = (of: "asked" | "again" | "differing" | "unread") => all.reduce((total, found) => total + found[of], 0)
      assert.isAbove(sum("asked"), 0)
      assert.isAbove(sum("again"), 0)
      assert.strictEqual(sum("differing"), 0)
      assert.strictEqual(sum("unread"), 0)
      const calls = [...asked.values()].reduce((total, times) => total + times, 0)
      assert.strictEqual(calls, sum("asked") + sum("again"))
      assert.strictEqual(spent.calls, calls)
      assert.notDeepEqual(batches(events), batches((yield* recorded(own, judge(new Map()))).events))
    })
  )

  it.effect.each(settings)("is not asked again where the run is, %s", ([, algorithm]) =>
    Effect.gen(function* () {
      const asked = new Map<string, number>()
      const journal = yield* Journal
      const failing: JudgeModel = {
        ...judge(asked),
        ask: (prompt, isReadable) =>
          asked.size > 0
            ? Effect.fail(new RewardError({ reward: "judge", reason: "it is down" }))
            : judge(asked).ask(prompt, isReadable)
      }
      const go = (model: JudgeModel) =>
        runOn(algorithm, Layer.succeed(Journal, journal)).pipe(
          Effect.provideService(JudgeModels, () => Effect.succeed(model))
        )
      assert.strictEqual((yield* Effect.flip(go(failing)))._tag, "RewardError")
      yield* go(judge(asked))
      const whole = new Map<string, number>()
      const { events } = yield* recorded(algorithm, judge(whole))
      assert.deepStrictEqual(yield* EventLog.read(journal), events)
      const counts = (map: ReadonlyMap<string, number>) => Object.fromEntries(map)
      assert.deepStrictEqual(counts(asked), counts(whole))
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect.prop(
    "that fails or meets the budget has all that it began settled and on record, and a resume asks for the rest alone",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20 })), Schema.Boolean],
    ([place, isPoor]) =>
      Effect.gen(function* () {
        const stages = credited({ name: "stages", gamma: 1, epsilon: 1e-6, ...judged })
        const large = { ...stages, rollout: { ...stages.rollout, groupSize: 4 } }
        const journal = yield* Journal
        const asked = new Map<string, number>()
        const seen = { begun: 0, ended: 0, most: 0, beforeFailure: Infinity }
        const slow = (failing: number): JudgeModel => ({
          ...judge(asked),
          ask: Effect.fnUntraced(function* (prompt, isReadable) {
            const number = ++seen.begun
            seen.most = Math.max(seen.most, seen.begun - seen.ended)
            for (let wait = Math.abs(Hash.string(prompt)) % 20; wait > 0; wait--) yield* Effect.yieldNow
            seen.ended++
            if (number === failing) {
              seen.beforeFailure = seen.begun
              return yield* new RewardError({ reward: "judge", reason: "it is down" })
            }
            return yield* judge(asked).ask(prompt, isReadable)
          })
        })
        const go = (failing: number, usd: number | null) =>
          runOn(large, Layer.succeed(Journal, journal), undefined, { budget: { ...Ledger.unlimited, usd } }).pipe(
            Effect.provideService(JudgeModels, () => Effect.succeed(slow(failing)))
          )
        const stopped = yield* Effect.flip(isPoor ? go(0, place / 100) : go(place, null))
        assert.strictEqual(stopped._tag, isPoor ? "BudgetReached" : "RewardError")
        assert.strictEqual(seen.ended, seen.begun)
        assert.isAtMost(seen.most, 8)
        assert.isAtMost(seen.begun, seen.beforeFailure)
        const { open, total } = Ledger.summarize(yield* journal.ledger)
        assert.deepStrictEqual({ ...open, seconds: 0 }, Ledger.nothing)
        assert.strictEqual(
          total.calls,
          [...asked.values()].reduce((sum, times) => sum + times, 0)
        )
        yield* go(0, null)
        const whole = new Map<string, number>()
        const { events } = yield* recorded(large, judge(whole))
        assert.deepStrictEqual(yield* EventLog.read(journal), events)
        assert.deepStrictEqual(Object.fromEntries(asked), Object.fromEntries(whole))
      }).pipe(Effect.provide(layerMemory, { local: true })),
    { arbitrary: { runs: 6 } }
  )

  it.effect(
    "by rubrics has the criteria of a question in the state, which the next step of that question begins with",
    () =>
      Effect.gen(function* () {
        const [, rubric = own] = settings[1] ?? []
        const prompts = new Map<string, number>()
        const long = { ...rubric, schedule: { ...rubric.schedule, steps: 8 } }
        const { events } = yield* recorded(long, judge(prompts))
        const buffers = findings(events).map(({ rubrics = {} }) => rubrics)
        for (const rubrics of buffers)
          for (const criteria of Object.values(rubrics)) {
            assert.isAtMost(criteria.length, 3)
            assert.isTrue(criteria.some(({ isPersistent }) => isPersistent))
          }
        assert.isTrue(buffers.flatMap((rubrics) => Object.values(rubrics)).some((criteria) => criteria.length > 1))
        assert.isTrue([...prompts.keys()].some((prompt) => /criteria are known:[^]*short/u.test(prompt)))
      })
  )

  it.effect("that changes its mind has noise, and one that cannot be read is a fact of the run", () =>
    Effect.gen(function* () {
      const [, tournament = own] = settings[0] ?? []
      const moody = findings((yield* recorded(tournament, judge(new Map(), true))).events)
      assert.isTrue(moody.some(({ differing }) => differing > 0))
      const silent = {
        ...judge(new Map()),
        ask: () => Effect.succeed({ text: null, spent: { calls: 3, tokens: 30, usd: 0.03 } })
      }
      const journal = yield* Journal
      const state = yield* runOn(tournament, Layer.succeed(Journal, journal)).pipe(
        Effect.provideService(JudgeModels, () => Effect.succeed(silent))
      )
      const unread = findings(yield* EventLog.read(journal)).reduce((sum, found) => sum + found.unread, 0)
      assert.isAbove(unread, 0)
      assert.deepStrictEqual(
        state.degraded.filter(({ part }) => part === "judge").map(({ count }) => count),
        [unread]
      )
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("stops a run at its budget, and where its price is not known", () =>
    Effect.gen(function* () {
      const [, tournament = own] = settings[0] ?? []
      const limits = { ...Ledger.unlimited, usd: 0.05 }
      const poor = yield* Effect.flip(recorded(tournament, judge(new Map()), limits))
      assert.strictEqual(poor._tag, "BudgetReached")
      const priceless = { ...judge(new Map()), atMost: () => ({ calls: 1, tokens: 1, usd: null }) }
      assert.strictEqual((yield* Effect.flip(recorded(tournament, priceless, limits)))._tag, "ConfigError")
    })
  )

  it.effect("without a language model is refused, but for flaws that need none", () =>
    Effect.gen(function* () {
      const unnamed = settings.map(([name, { reward, train }]) => {
        const without = <A extends object>(choice: A): A => ("model" in choice ? { ...choice, model: "" } : choice)
        const algorithm = {
          ...own,
          reward: { ...reward, shaping: without(reward.shaping) },
          train: { ...train, credit: without(train.credit) }
        }
        return `${name}: ${inconsistency(algorithm)?.remedy}`
      })
      assert.deepStrictEqual(unnamed, [
        "tournament: Name the judge's language model in reward.shaping.model.",
        "rubric: Name the judge's language model in reward.shaping.model.",
        "flawed: undefined",
        "key-turns: Name the judge's language model in train.credit.model.",
        "stages: Name the judge's language model in train.credit.model.",
        "reflections: Name the judge's language model in train.credit.model."
      ])
      const [, tournament = own] = settings[0] ?? []
      const failed = yield* Effect.flip(runOn(tournament, layerMemory))
      assert.strictEqual(failed._tag, "RewardError")
    })
  )
})

describe("reflections of the policy", () => {
  /** The advantages of all segments that are trained, by what the policy saw and wrote. */
  const trained = Effect.fnUntraced(function* (algorithm: Algorithm) {
    const advantages = new Map<string, ReadonlyArray<number>>()
    const engine = (engine: Engine.Interface): Engine.Interface => ({
      ...engine,
      train: (request) => {
        for (const { advantages: own, prompt, response, weights } of request.datums)
          advantages.set(
            [prompt, response].map(engine.tokenizer.decode).join(),
            own.filter((_, at) => weights[at] !== 0)
          )
        return engine.train(request)
      }
    })
    const model = judge(new Map())
    yield* runOn(reflecting(algorithm), layerMemory, undefined, { engine }).pipe(
      Effect.provideService(JudgeModels, () => Effect.succeed(model))
    )
    return advantages
  })

  it.effect("are trained by a judge's scores, and the attempts around them by the last answer", () =>
    Effect.gen(function* () {
      const byOutcome = yield* trained(own)
      const byJudge = yield* trained(credited({ name: "reflections", epsilon: 0, ...judged }))
      let differing = 0
      for (const [text, advantages] of byJudge) {
        const isReflection = text.includes(",<reflect>")
        if (!isReflection) assert.deepStrictEqual(advantages, byOutcome.get(text))
        // Of two that differ, standardised scores are alike but for their signs.
        else
          for (const value of advantages)
            assert.closeTo(Math.min(Math.abs(value), Math.abs(Math.abs(value) - Math.SQRT1_2)), 0, 1e-9)
        if (isReflection && advantages[0] !== byOutcome.get(text)?.[0]) differing++
      }
      assert.isAbove(differing, 0)
    })
  )
})

describe("dependence on evidence", () => {
  const spotlit = credited({ name: "evidence", share: 0.4, floor: 0.9 })

  it.effect("is that of each token after an observation, which is hidden with all others of its context", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const trained: Array<TrainRequest> = []
      yield* runOn(spotlit, Layer.succeed(Journal, journal), undefined, {
        engine: (engine) => ({
          ...engine,
          train: (request) => {
            trained.push(request)
            return engine.train(request)
          },
          score: (which, sequences) =>
            Effect.map(engine.score(which, sequences), (all) =>
              all.map((logprobs, index) => {
                if (which === "reference") return logprobs
                const text = engine.tokenizer.decode(sequences[index]?.response ?? [])
                for (const [, shown = ""] of text.matchAll(/<information>([^<]*)</gu))
                  assert.strictEqual(shown.trim(), "No information found.")
                // The later a token is, the more it depends on what was shown before.
                return logprobs.map((logprob, at) => logprob - at / 1000)
              })
            )
        })
      })
      const events = yield* EventLog.read(journal)
      const turns = findings(events).flatMap(({ of }) => of.flatMap(({ turns = [] }) => [turns]))
      assert.isNotEmpty(turns)
      for (const [first = {}, ...later] of turns) {
        assert.isTrue(first.dependence?.every((value) => value === 0))
        for (const { dependence = [] } of later) {
          assert.isNotEmpty(dependence)
          assert.isTrue(dependence.every((value, at) => value > 0 && value >= (dependence[at - 1] ?? 0)))
        }
      }
      const all = trained.flatMap(({ datums }) => datums)
      assert.isTrue(all.some(({ advantages }) => advantages.some((value) => value !== 0)))
      for (const { advantages, weights } of all) {
        const actions = weights.flatMap((weight, at) => (weight === 0 ? [] : [at]))
        const kept = actions.filter((at) => advantages[at] !== 0)
        // Rollouts of advantage 0 are trained towards the reference alone.
        if (kept.length > 0) assert.deepStrictEqual(kept, actions.slice(-Math.ceil(0.4 * actions.length)))
      }
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("is 0 where the observations change nothing", () =>
    Effect.gen(function* () {
      const { events } = yield* recorded(spotlit, judge(new Map()))
      const found = findings(events).flatMap(({ of }) => of.flatMap(({ turns = [] }) => turns))
      assert.isTrue(found.every(({ dependence = [1] }) => dependence.every((value) => value < 1e-9)))
    })
  )
})

describe("information of an observation", () => {
  const informed = credited({ name: "information", beta: 0.5, temperature: 1, epsilon: 1e-6 })

  it.effect("is 0 where the observation changes nothing, and is in the events", () =>
    Effect.gen(function* () {
      const { events, spent } = yield* recorded(informed, judge(new Map()))
      const found = findings(events).flatMap(({ of }) => of.flatMap(({ turns = [] }) => turns))
      assert.isNotEmpty(found)
      // The scripted policy gives a token the same probability whatever is before it.
      assert.isTrue(found.every(({ information = Number.NaN }) => Math.abs(information) < 1e-9))
      assert.strictEqual(spent.calls, 0)
    })
  )

  it.effect("is what the next action is less probable without it", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      let hidden = 0
      yield* runOn(informed, Layer.succeed(Journal, journal), undefined, {
        engine: (engine) => ({
          ...engine,
          score: (which, sequences) =>
            Effect.map(engine.score(which, sequences), (all) =>
              all.map((logprobs, index) => {
                if (which === "reference") return logprobs
                const prompt = engine.tokenizer.decode(sequences[index]?.prompt ?? [])

                assert.match(prompt, /<information>\s*No information found\.\s*<\/information>/u)
                hidden++
                return logprobs.map((logprob) => logprob - 2)
              })
            )
        })
      })
      const events = yield* EventLog.read(journal)
      const found = findings(events).flatMap(({ of }) =>
        of.map(({ turns = [] }) => turns.map(({ information }) => information))
      )
      assert.isAbove(hidden, 0)
      for (const turns of found) {
        const [last = Number.NaN, ...others] = turns.toReversed()
        assert.strictEqual(last, 0)
        for (const information of others) assert.closeTo(information ?? Number.NaN, 2, 1e-9)
      }
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})
