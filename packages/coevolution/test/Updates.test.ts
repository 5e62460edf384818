import { assert, describe, it } from "@effect/vitest"
import { type Algorithm, EventLog, inconsistency, type RunEvent, Strategies } from "@inspo/coevolution"
import type { Engine, TrainRequest } from "@inspo/engine"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Advantage, Corrections, Credits, Keeps, Losses } from "@inspo/policy-gradient"
import { GroupRewards } from "@inspo/reward"
import { Effect, Layer, Schema } from "effect"
import { judged } from "./support/ScriptedJudge.ts"
import { algorithm, runOn } from "./support/ScriptedRun.ts"

/** Constants that have no default. */
const given: Readonly<Record<string, object>> = {
  "ratio-variance": { lambda: 0.5 },
  discount: { gamma: 0.9 },
  information: { beta: 0.1, temperature: 1 },
  varied: { share: 0.5 },
  "varied-in-group": { members: 1 },
  gfpo: { k: 2 },
  stability: { weight: 0.5 },
  "pass-at-k": { k: 2 }
}

/** Attempts of any length, as all rewards of groups read them. */
const Attempts = Schema.NonEmptyArray(
  Schema.Struct({
    reward: Schema.Literals([0, 0.5, 1]),
    length: Schema.Literals([1, 100, 4000]),
    answer: Schema.NullOr(Schema.Literals(["a", "b"])),
    calls: Schema.Struct({ search: Schema.Literals([0, 1, 5]) }),
    words: Schema.Array(Schema.Literals(["a", "b"])),
    flawed: Schema.Boolean,
    score: Schema.Literals([0, 1]),
    budget: Schema.Literal(100),
    beats: Schema.Tuple([Schema.Literal(0.5), Schema.Literal(0.5)])
  })
).check(Schema.isMaxLength(5))

const choose = <A>(schema: Schema.Codec<A, unknown>, name: string): A =>
  Schema.decodeUnknownSync(schema)({ name, ...given[name] })

const vespo = { name: "vespo", positiveK: 2, positiveLambda: 3, negativeK: 3, negativeLambda: 2 } as const
const fipo = { name: "fipo", low: 0, high: 0.2, gamma: 0.5, safe: 4, clip: 0.2 } as const

const withTrain = (changes: Partial<Algorithm["train"]>): Algorithm => ({
  ...algorithm,
  schedule: { ...algorithm.schedule, steps: 3, evolveEvery: 0, pruneEvery: 0 },
  evaluation: { ...algorithm.evaluation, questions: 0 },
  train: { ...algorithm.train, ...changes }
})

const withShaping = (shaping: Algorithm["reward"]["shaping"]): Algorithm => {
  const own = withTrain({})
  return { ...own, reward: { ...own.reward, shaping } }
}

const withBudgets = (own: Algorithm): Algorithm => ({
  ...own,
  rollout: { ...own.rollout, agent: { name: "budgets", budgets: [16, 64] } }
})

/** The advantage of HBPO with its reward of this limit. */
const budgeted = (limit: number): Algorithm => {
  const own = withShaping({ name: "budget", limit })
  return { ...own, train: { ...own.train, advantage: choose(Advantage.Advantage, "budgeted") } }
}

const names = (methods: ReadonlyArray<{ readonly name: string }>) => methods.map(({ name }) => name)

const settings: ReadonlyArray<readonly [string, Algorithm]> = [
  ...names(Losses.losses).map((name) => [name, withTrain({ loss: choose(Losses.Loss, name) })] as const),
  ...names(Credits.credits).map((name) => [name, withTrain({ credit: choose(Credits.Credit, name) })] as const),
  ...names(Keeps.keeps).map((name) => [name, withTrain({ keep: choose(Keeps.Keep, name) })] as const),
  ...names(Corrections.corrections).map(
    (name) => [`correction ${name}`, withTrain({ correction: choose(Corrections.Correction, name) })] as const
  ),
  ...names(Advantage.Advantage.methods).map(
    (name) => [name, withTrain({ advantage: choose(Advantage.Advantage, name) })] as const
  ),
  ...names(GroupRewards.groupRewards).map((name) => [name, withShaping(choose(GroupRewards.Shaping, name))] as const),
  ["budgeted with budgets", withBudgets(budgeted(4096))],
  ["budget with budgets", withBudgets(withShaping(choose(GroupRewards.Shaping, "budget")))]
]

const recorded = (algorithm: Algorithm, strategies = Strategies.layer(algorithm)) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    yield* runOn(algorithm, Layer.succeed(Journal, journal), undefined, { strategies })
    return yield* EventLog.read(journal)
  }).pipe(Effect.provide(layerMemory, { local: true }))

const trainings = (events: ReadonlyArray<RunEvent>) =>
  events.flatMap((event) => (event._tag === "StepTrained" ? [event.metrics] : []))

describe("an update", () => {
  it.effect.each(settings.filter(([, settings]) => inconsistency(settings) === null))("trains a run by %s", ([, own]) =>
    Effect.gen(function* () {
      const events = yield* recorded(own)
      assert.lengthOf(trainings(events), 3)
      for (const { clipFraction } of trainings(events).flat()) assert.isTrue(clipFraction >= 0 && clipFraction <= 1)
    })
  )

  it("is refused before the start where a run lacks what it needs", () => {
    const refused = settings.flatMap(([name, settings]) => {
      const error = inconsistency(settings)
      return error === null ? [] : [`${name}: ${error.field}`]
    })
    assert.deepStrictEqual(refused, [
      "icpo: train.loss",
      "key-turns: train.credit",
      "stages: train.credit",
      "reflections: train.credit",
      "anytime: train.credit",
      "budgeted: train.advantage",
      "tournament: reward.shaping",
      "rubric: reward.shaping",
      "history-length: reward.shaping",
      "budget: reward.shaping"
    ])
  })

  it.each<readonly [string, Partial<Algorithm["train"]>, Partial<Algorithm["rollout"]>]>([
    ["train.advantage", {}, { instructionsPerQuestion: "samples" }],
    [
      "train.credit",
      { advantage: { name: "centred" }, credit: choose(Credits.Credit, "discount") },
      { instructionsPerQuestion: "samples" }
    ],
    ["train.credit", { credit: { name: "reflections", epsilon: 1e-6, ...judged } }, {}],
    ["train.advantage.k", { advantage: { name: "gfpo", k: 3, efficient: false, epsilon: 0 } }, {}],
    ["train.keep.members", { keep: { name: "varied-in-group", members: 3 } }, {}],
    ["rollout.groupSize", {}, { groupSize: 1 }],
    ["train.normalization", { loss: choose(Losses.Loss, "gspo"), normalization: { name: "token-mean" } }, {}],
    ["train.loss.low", { loss: { name: "clip", low: -1, high: 1, dual: 0 } }, {}],
    ["train.correction.bound", { correction: { name: "truncate-tokens", bound: -1 } }, {}],
    ["train.correction.low", { correction: { name: "mask-tokens", low: 3, high: 2 } }, {}],
    ["train.keep.share", { keep: { name: "varied", share: 2 } }, {}],
    ["train.credit.share", { credit: { name: "evidence", share: 0, floor: 0.9 } }, {}],
    ["train.credit.floor", { credit: { name: "evidence", share: 0.4, floor: 1.5 } }, {}],
    ["train.advantage.k", { advantage: { name: "pass-at-k", k: 0, epsilon: 1e-6, divide: true } }, {}],
    ["train.advantage.k", { advantage: { name: "pass-at-k", k: 1.5, epsilon: 1e-6, divide: true } }, {}],
    ["train.advantage.k", { advantage: { name: "gfpo", k: 0, efficient: false, epsilon: 0 } }, {}],
    ["train.advantage.norm", { advantage: { name: "gpg", norm: 0 } }, {}],
    ["train.advantage.epsilon", { advantage: { name: "standardised", epsilon: -1 } }, {}],
    ["train.credit.temperature", { credit: { name: "information", beta: 1, temperature: 0, epsilon: 0 } }, {}],
    ["train.loss.dual", { loss: { name: "clip", low: 0.2, high: 0.2, dual: 0.5 } }, {}],
    ["train.loss.tau", { loss: { name: "dro", tau: -1 } }, {}],
    ["train.loss.cap", { loss: { name: "dppo-tv", delta: 0.2, cap: -1 } }, {}],
    ["train.loss.bound", { loss: { name: "truncated", bound: 0 } }, {}],
    ["train.loss.positive", { loss: { name: "sapo", positive: 0, negative: 1 } }, {}],
    ["train.loss.negative", { loss: { name: "sapo", positive: 1, negative: -1 } }, {}],
    ["train.loss.clip", { loss: { ...fipo, clip: -1 } }, {}],
    ["train.loss.safe", { loss: { ...fipo, safe: 0 } }, {}],
    ["train.loss.gamma", { loss: { ...fipo, gamma: 1.1 } }, {}],
    ["train.loss.negativeLambda", { loss: { ...vespo, negativeLambda: -2 } }, {}],
    ["train.loss.positiveK", { loss: { ...vespo, positiveK: 0 } }, {}],
    ["train.credit.gamma", { credit: { name: "discount", gamma: 1.5, epsilon: 0 } }, {}],
    ["train.credit.gamma", { credit: { name: "states", gamma: -0.1, weight: 1, epsilon: 0 } }, {}],
    ["train.advantage.limit", { advantage: { name: "token-average", limit: 0, epsilon: 0 } }, {}],
    ["train.advantage.bound", { advantage: { name: "early-tool", delta: -2, bound: 1.5, epsilon: 0 } }, {}],
    ["train.loss.lambda", { loss: { name: "ratio-variance", lambda: -1 } }, {}],
    ["train.keep.members", { keep: { name: "varied-in-group", members: 0 } }, {}],
    ["train.keep.low", { keep: { name: "difficulty", low: 0.6, high: 0.2 } }, {}],
    ["train.keep", { advantage: { name: "gpg", norm: 1 }, keep: { name: "differing", draws: 0 } }, {}],
    ["train.advantage", { advantage: choose(Advantage.Advantage, "early-tool") }, { agent: { name: "rag" } }],
    ["train.loss", { loss: choose(Losses.Loss, "clip-trajectory") }, { agent: { name: "memory" } }],
    [
      "train.loss",
      { loss: choose(Losses.Loss, "luspo"), normalization: { name: "sequence-mean" } },
      { agent: { name: "memory" } }
    ],
    ["train.kl", { kl: { name: "advantages", coefficient: 0.05 } }, { rescue: { attempts: 1, members: 1 } }]
  ])("is refused where its settings contradict each other: %s", (field, train, rollout) => {
    const own = withTrain(train)
    assert.strictEqual(inconsistency({ ...own, rollout: { ...own.rollout, ...rollout } })?.field, field)
    assert.isNull(
      inconsistency({ ...own, rollout: { ...own.rollout, ...rollout }, train: { ...own.train, fromStep: null } })
    )
  })

  it.each<readonly [string, Algorithm["reward"]["shaping"]]>([
    ["reward.shaping.prices", { name: "costs", prices: { search: 0.1, create: -0.1 } }],
    ["reward.shaping.buffer", { name: "soft-overlong", limit: 100, buffer: 0 }],
    ["reward.shaping.limit", { name: "cosine-length", limit: -1, least: 0.5, most: 1 }],
    ["reward.shaping.size", { name: "repetition", size: 0, penalty: -1 }],
    ["reward.shaping.penalty", { name: "flawed", penalty: 2, ...judged }],
    ["reward.shaping.penalty", { name: "flawed", penalty: -0.5, ...judged }]
  ])("is refused where its reward turns over what it is for: %s", (field, shaping) => {
    assert.strictEqual(inconsistency(withShaping(shaping))?.field, field)
  })

  it("by budgets is refused unless its reward has them, of the same limit", () => {
    assert.strictEqual(inconsistency(withBudgets(budgeted(4000)))?.field, "reward.shaping")
    const plain = withBudgets(withTrain({ advantage: choose(Advantage.Advantage, "budgeted") }))
    assert.strictEqual(inconsistency(plain)?.field, "reward.shaping")
  })

  it.prop("divides by a mean of rewards, or asks until they differ, only where these do", [Attempts], ([attempts]) => {
    const accepted = (train: Partial<Algorithm["train"]>) =>
      names(GroupRewards.groupRewards).flatMap((name) => {
        const shaping = choose(GroupRewards.Shaping, name)
        const own = withBudgets(withShaping("model" in shaping ? { ...shaping, ...judged } : shaping))
        const { name: _, ...constants } = shaping
        const isAccepted = inconsistency({ ...own, train: { ...own.train, ...train } }) === null
        return isAccepted
          ? [
              {
                name,
                of: (group: ReadonlyArray<GroupRewards.Attempt>) =>
                  GroupRewards.named(shaping)?.of(group, constants) ?? []
              }
            ]
          : []
      })
    const [divided, drawn] = [
      accepted({ advantage: { name: "max-likelihood" } }),
      accepted({ keep: { name: "differing", draws: 1 } })
    ]
    assert.deepStrictEqual(names(divided), ["agreement", "tournament", "rubric", "adaptive-tools", "stability"])
    for (const { name, of } of divided) for (const reward of of(attempts)) assert.isAtLeast(reward, 0, name)
    const [first] = attempts
    const alike = [0, 1].map((reward) => ({ ...first, reward }))
    for (const { name, of } of drawn) assert.lengthOf([...new Set(of(alike))], 2, name)
    assert.includeMembers(names(drawn), ["soft-overlong", "flawed"])
  })

  it.effect("of shaped rewards credits instructions with the rewards as they are", () =>
    Effect.gen(function* () {
      const rewards = (events: ReadonlyArray<RunEvent>) =>
        events.flatMap((event) =>
          event._tag === "RolloutsCollected" && event.step === 1 ? event.groups.map((group) => group.rewards) : []
        )
      const usual = yield* recorded(withTrain({}))
      const agreeing = yield* recorded(withShaping({ name: "agreement" }))
      assert.isNotEmpty(rewards(usual))
      assert.deepStrictEqual(rewards(agreeing), rewards(usual))
      assert.notDeepEqual(trainings(agreeing), trainings(usual))
      const free = yield* recorded(withShaping({ name: "costs", prices: {} }))
      assert.deepStrictEqual(trainings(free), trainings(usual))
    })
  )

  it.effect("is corrected by the policy before its step, which is asked once for each mini-batch", () =>
    Effect.gen(function* () {
      const requests = Effect.fnUntraced(function* (correction: Algorithm["train"]["correction"], by: number) {
        const made: Array<TrainRequest | "scored"> = []
        const engine = (engine: Engine.Interface): Engine.Interface => ({
          ...engine,
          score: (policy, datums) => {
            if (policy === "current") made.push("scored")
            return Effect.map(engine.score(policy, datums), (scores) =>
              scores.map((ones) => ones.map((one) => one + by))
            )
          },
          train: (request) => {
            made.push(request)
            return engine.train(request)
          }
        })
        // A penalty in the advantages must not hide that the epochs share their datums.
        const kl = { name: "advantages", coefficient: 1e-12 } as const
        const twice = withTrain({ correction, kl, miniBatch: { name: "questions", size: 64, epochs: 2 } })
        yield* runOn(twice, layerMemory, undefined, { engine })
        return made
      })
      const usual = yield* requests({ name: "none" }, 0)
      const [scored, first, second] = yield* requests({ name: "truncate-tokens", bound: 2 }, Math.log(1.5))
      const [plain] = usual
      if (plain === undefined || plain === "scored" || first === undefined || first === "scored")
        return assert.fail("a run without a correction scores nothing, and one with a correction scores first")
      assert.strictEqual(scored, "scored")
      assert.notStrictEqual(second, "scored")
      assert.notInclude(usual, "scored")
      for (const [at, { advantages }] of first.datums.entries())
        for (const [token, value] of advantages.entries())
          assert.closeTo(value, 1.5 * (plain.datums[at]?.advantages[token] ?? Number.NaN), 1e-9)
    })
  )

  it.effect("takes an estimator of its user, which the first event names", () =>
    Effect.gen(function* () {
      const mine: Advantage.Interface = {
        identity: { name: "mine", parameters: {} },
        ofBatch: (groups) => groups.map((group) => group.map(({ reward }) => reward - 0.5))
      }
      const own = withTrain({})
      const layer = Layer.merge(Strategies.layer(own), Layer.succeed(Advantage.Estimator, mine))
      const [first, ...events] = yield* recorded(own, layer)
      if (first?._tag !== "RunStarted") return assert.fail("a log begins with RunStarted")
      assert.deepStrictEqual(Strategies.foreign(own, first.strategies), [
        { part: "estimator", identity: mine.identity }
      ])
      const usual = yield* recorded(own)
      assert.notDeepEqual(trainings(events), trainings(usual))
    })
  )
})
