import { assert, describe, it } from "@effect/vitest"
import { Instruction, Question, Trajectory } from "@inspo/domain"
import { Array, Schema } from "effect"
import type { Datum } from "@inspo/engine"
import { Advantage, Credits, GrpoBatch, type TrainConfig } from "@inspo/policy-gradient"
import { update } from "./support/Update.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Trajectories of few instructions and questions, so that groups of all sizes occur, some without action tokens. */
const Unit = Schema.Literals(["questions", "trajectories"])

const Steps = Schema.Array(
  Schema.Struct({
    instruction: between(0, 1),
    question: between(0, 3),
    reward: Schema.Literals([0, 1]),
    mask: Schema.Array(Schema.Literals([0, 1])).check(Schema.isMaxLength(6))
  })
).check(Schema.isMaxLength(16))

const trajectories = (steps: typeof Steps.Type): ReadonlyArray<GrpoBatch.Sampled> =>
  steps.map(({ instruction, mask, question, reward }, index) => ({
    instructionId: Instruction.InstructionId.make(`i${instruction}`),
    questionId: Question.QuestionId.make(`q${question}`),
    reward,
    prompt: [index],
    response: mask.map((_, i) => i),
    logprobs: mask.map((action) => (action === 1 ? -0.5 : 0)),
    mask
  }))

/** The same trajectory with a context of its own from each of these places of its response on. */
const cut = (trajectory: GrpoBatch.Sampled, places: ReadonlyArray<number>): GrpoBatch.Sampled => {
  const starts = [0, ...new Set(places.filter((at) => at > 0 && at < trajectory.response.length))].toSorted(
    (a, b) => a - b
  )
  const segments = starts.map((start, index) => ({
    prompt: index === 0 ? trajectory.prompt : [...trajectory.prompt, index],
    response: trajectory.response.slice(start, starts[index + 1]),
    logprobs: trajectory.logprobs.slice(start, starts[index + 1]),
    mask: trajectory.mask.slice(start, starts[index + 1])
  }))
  const earlier = segments.slice(0, -1)
  return { ...trajectory, ...segments.at(-1), ...(Array.isReadonlyArrayNonEmpty(earlier) ? { earlier } : {}) }
}

const toAdvantage = ({ advantage }: GrpoBatch.Scored) => advantage

/** Every action token as it is trained: with its trajectory, its context, its advantage and its share. */
const trained = (datums: ReadonlyArray<Datum>) =>
  datums.flatMap(({ advantages, logprobs, prompt, response, weights }) =>
    response.flatMap((token, at) =>
      weights[at] === 0
        ? []
        : [{ of: prompt[0], token, logprob: logprobs[at], advantage: advantages[at], weight: weights[at] }]
    )
  )

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

const Normalization = Schema.Literals(["sequence-mean", "token-mean"])

const withKl = { kl: { name: "loss", coefficient: 0.001 } } as const

const scored = (steps: typeof Steps.Type) =>
  GrpoBatch.groups(trajectories(steps)).map((group) => GrpoBatch.score(group, "standardised"))

describe("GrpoBatch", () => {
  it.prop(
    "groups hold each trajectory once, beside those of the same instruction and question only",
    [Steps],
    ([steps]) => {
      const all = trajectories(steps)
      const groups = GrpoBatch.groups(all)
      const byPrompt = (left: GrpoBatch.Sampled, right: GrpoBatch.Sampled) =>
        (left.prompt[0] ?? 0) - (right.prompt[0] ?? 0)
      assert.deepStrictEqual(groups.flat().sort(byPrompt), [...all])
      const keys = groups.map((group) => [...new Set(group.map((t) => `${t.instructionId} ${t.questionId}`))].join())
      assert.strictEqual(new Set(keys).size, groups.length)
      assert.isFalse(keys.some((key) => key.includes(",")))
    }
  )

  it.prop(
    "mini-batches part the trajectories in order, whole groups together when they count questions",
    [Schema.Array(Schema.Array(Schema.Int).check(Schema.isMinLength(1))), between(1, 5), Unit],
    ([groups, size, unit]) => {
      const batches = GrpoBatch.miniBatches(groups, size, unit)
      assert.deepStrictEqual(batches.flat(), groups.flat())
      const units = unit === "questions" ? groups.length : groups.flat().length
      assert.strictEqual(batches.length, Math.ceil(units / size))
      if (unit === "questions")
        batches.forEach((batch, i) => assert.deepStrictEqual(batch, groups.slice(i * size, (i + 1) * size).flat()))
      else batches.slice(0, -1).forEach((batch) => assert.strictEqual(batch.length, size))
    }
  )

  it.prop(
    "weights lie on action tokens only and sum to the share that acts",
    [Steps, Normalization],
    ([steps, normalization]) => {
      const batch = scored(steps).flat()
      const datums = GrpoBatch.datums(batch, { ...update, ...withKl, normalization: { name: normalization } })
      const acting = batch.filter(({ trajectory }) => trajectory.mask.some((action) => action === 1))
      assert.strictEqual(datums.length, acting.length)
      datums.forEach((datum, i) => {
        const mask = acting[i]?.trajectory.mask ?? []
        assert.deepStrictEqual(
          datum.weights.map((weight) => (weight > 0 ? 1 : 0)),
          [...mask]
        )
        assert.isTrue(datum.advantages.every((advantage, j) => advantage === 0 || mask[j] === 1))
        assert.strictEqual(datum.response.length, datum.weights.length)
        assert.strictEqual(datum.response.length, datum.advantages.length)
      })
      const share = normalization === "token-mean" ? 1 : acting.length / batch.length
      assert.closeTo(sum(datums.flatMap((datum) => datum.weights)), acting.length === 0 ? 0 : share, 1e-9)
    }
  )

  it.prop(
    "sequences weigh the same with sequence-mean, tokens with token-mean",
    [Steps, Normalization],
    ([steps, normalization]) => {
      const datums = GrpoBatch.datums(scored(steps).flat(), {
        ...update,
        ...withKl,
        normalization: { name: normalization }
      })
      const shares =
        normalization === "sequence-mean"
          ? datums.map((datum) => sum(datum.weights))
          : datums.flatMap((datum) => datum.weights.filter((weight) => weight > 0))
      shares.forEach((share) => assert.closeTo(share, shares[0] ?? Number.NaN, 1e-12))
    }
  )

  it.prop(
    "segments change neither the shares nor the advantages of a trajectory's tokens, and each is trained in its context",
    [Steps, Schema.Array(between(0, 5)), Normalization],
    ([steps, places, normalization]) => {
      const options = { ...update, ...withKl, normalization: { name: normalization } }
      const batch = scored(steps).flat()
      const cuts = batch.map(({ advantage, trajectory }) => ({ advantage, trajectory: cut(trajectory, places) }))
      const datums = GrpoBatch.datums(cuts, options)
      assert.deepStrictEqual(trained(datums), trained(GrpoBatch.datums(batch, options)))
      const acting = cuts.flatMap(({ trajectory }) =>
        Trajectory.segments(trajectory).filter(({ mask }) => mask.includes(1))
      )
      assert.deepStrictEqual(
        datums.map(({ logprobs, prompt, response, weights }) => ({
          prompt,
          response,
          logprobs,
          mask: weights.map((weight) => (weight > 0 ? 1 : 0))
        })),
        acting
      )
    }
  )

  it.prop(
    "a new segment is to advantages and to the credit of turns as an observation",
    [Schema.Array(between(1, 5)).check(Schema.isMinLength(1)), Advantage.Advantage],
    ([places, drawn]) => {
      const rewarded = ([1, 1, 0] as const).map((reward) => ({ instruction: 0, question: 0, reward }))
      const cuts = trajectories(rewarded.map((one) => ({ ...one, mask: [1, 1, 1, 1, 0, 1] }))).map((one, index) =>
        cut({ ...one, budget: 512 }, places.slice(index))
      )
      const shown = cuts.map(({ earlier = [], ...last }) => {
        const observed = earlier.flatMap(({ mask }): typeof last.mask => [...mask, 0])
        const mask = [...observed, ...last.mask]
        return { ...last, mask, response: mask, logprobs: mask }
      })
      const credited = (all: ReadonlyArray<GrpoBatch.Sampled>) =>
        GrpoBatch.trainRequests(
          all,
          { ...update, credit: { name: "discount", gamma: 0.9, epsilon: 1e-6 } },
          { key: "7", learningRate: 1e-3 }
        ).flatMap(({ datums }) => trained(datums).map(({ advantage, of, weight }) => ({ of, advantage, weight })))
      assert.deepStrictEqual(credited(cuts), credited(shown))
      for (const kind of [drawn, "early-tool"] as const)
        assert.deepStrictEqual(
          GrpoBatch.score(cuts, kind).map(toAdvantage),
          GrpoBatch.score(shown, kind).map(toAdvantage)
        )
    }
  )

  it.prop(
    "the credit of tokens is over all groups of a step, each token its own, however a response is cut",
    [Steps, Schema.Array(between(1, 5)), Schema.Literals([0.4, 1])],
    ([steps, places, share]) => {
      const whole = trajectories(steps)
      // A segment begins a run of tokens, so that a cut response has more turns, of the same tokens.
      const turnsOf = (trajectory: GrpoBatch.Sampled) => {
        let at = 0
        return Trajectory.segments(trajectory).flatMap(({ mask }) => {
          const turns = Credits.turnOfTokens(mask).filter((_, place) => mask[place] === 1)
          return Object.values(Array.groupBy(turns, String)).map((tokens) => ({
            dependence: tokens.map(() => (7 * (trajectory.prompt[0] ?? 0) + 3 * at++) % 5)
          }))
        })
      }
      const requests = (all: ReadonlyArray<GrpoBatch.Sampled>) =>
        GrpoBatch.trainRequests(
          all,
          { ...update, ...withKl, credit: { name: "evidence", share, floor: 0.5 } },
          { key: "7", learningRate: 1e-3, turnsOf }
        ).flatMap(({ datums }) => trained(datums).map(({ advantage, of }) => ({ of, advantage })))
      const found = requests(whole)
      assert.deepStrictEqual(requests(whole.map((one) => cut(one, places))), found)
      const groups = scored(steps).flat()
      const expected = Credits.named({ name: "evidence", share, floor: 0.5 }).of(
        groups.map(({ advantage, trajectory }) => ({
          reward: trajectory.reward,
          advantage,
          turns: turnsOf(trajectory)
        })),
        { share, floor: 0.5 }
      )
      const all = Array.zip(groups, expected).flatMap(([{ trajectory }, own]) =>
        own.map((advantage) => ({ of: trajectory.prompt[0], advantage }))
      )
      assert.deepStrictEqual(found, all)
    }
  )

  it.prop(
    "dropping what cannot learn changes no term of the gradient",
    [Steps, Normalization],
    ([steps, normalization]) => {
      const batch = scored(steps).flat()
      const gradient = (kl: TrainConfig["kl"]) =>
        GrpoBatch.datums(batch, { ...update, kl, normalization: { name: normalization } }).flatMap((datum) => {
          const terms = datum.weights.map((weight, i) => weight * (datum.advantages[i] ?? Number.NaN))
          return terms.some((term) => term !== 0) ? [{ prompt: datum.prompt, terms }] : []
        })
      assert.deepStrictEqual(gradient({ name: "none" }), gradient(withKl.kl))
      assert.isTrue(
        GrpoBatch.datums(batch, { ...update, normalization: { name: normalization } }).every((datum) =>
          datum.advantages.some((a) => a !== 0)
        )
      )
    }
  )

  it.prop("the requests of a step cover what can learn, once, under distinct keys", [Steps, Unit], ([steps, name]) => {
    const requests = GrpoBatch.trainRequests(
      trajectories(steps),
      { ...update, miniBatch: { ...update.miniBatch, name } },
      { key: "7", learningRate: 1e-3 }
    )
    const expected = scored(steps)
      .flat()
      .filter(({ advantage, trajectory }) => advantage !== 0 && trajectory.mask.some((a) => a === 1))
    assert.deepStrictEqual(
      requests.flatMap((request) => request.datums.map((datum) => datum.prompt)),
      expected.map(({ trajectory }) => trajectory.prompt)
    )
    assert.strictEqual(new Set(requests.map((request) => request.key)).size, requests.length)
    assert.isTrue(requests.every((request) => request.datums.length > 0 && request.optimizer.learningRate === 1e-3))
  })

  it.prop(
    "every epoch goes through the same mini-batches again, under keys of its own",
    [Steps, between(1, 4)],
    ([steps, epochs]) => {
      const requests = (epochs: number) =>
        GrpoBatch.trainRequests(
          trajectories(steps),
          { ...update, miniBatch: { ...update.miniBatch, epochs } },
          { key: "7", learningRate: 1e-3 }
        )
      const [once, repeated] = [requests(1), requests(epochs)]
      assert.strictEqual(new Set(repeated.map(({ key }) => key)).size, repeated.length)
      repeated.forEach((request, index) => assert.deepStrictEqual(request.datums, once[index % once.length]?.datums))
      assert.strictEqual(repeated.length, epochs * once.length)
    }
  )

  it("asks the engine for a KL term only where the loss holds it", () => {
    const loss = (changes: Partial<TrainConfig>) =>
      GrpoBatch.trainRequests(
        trajectories(
          [0, 1].map((reward) => ({ instruction: 0, question: 0, reward: reward === 0 ? 0 : 1, mask: [1] }))
        ),
        { ...update, ...changes },
        { key: "7", learningRate: 1e-3 }
      ).map((request) => request.loss)
    assert.deepStrictEqual(loss({ kl: { name: "loss", coefficient: 0.1 } }), [{ clipRatio: 0.2, klCoefficient: 0.1 }])
    assert.deepStrictEqual(loss({ kl: { name: "advantages", coefficient: 0.1 } }), [
      { clipRatio: 0.2, klCoefficient: 0 }
    ])
  })

  it("gives the tokens of each turn its advantage, in each segment", () => {
    const [whole] = trajectories([{ instruction: 0, question: 0, reward: 1, mask: [1, 0, 1, 1, 0, 1] }])
    assert.isDefined(whole)
    const part = (from: number, to?: number) => ({
      prompt: whole.prompt,
      response: whole.response.slice(from, to),
      logprobs: whole.logprobs.slice(from, to),
      mask: whole.mask.slice(from, to)
    })
    const trajectory = { ...whole, earlier: [part(0, 4)] as const, ...part(4) }
    const datums = GrpoBatch.datums([{ trajectory, advantage: 1, turns: [0.5, -2, 3] }], update)
    assert.deepStrictEqual(
      datums.map(({ advantages }) => advantages),
      [
        [0.5, 0, -2, -2],
        [0, 3]
      ]
    )
  })

  it("counts the trajectories that are not kept in no share", () => {
    const steps = [0, 1, 1, 1].map((reward, index) => ({
      instruction: 0,
      question: index < 2 ? 0 : 1,
      reward: reward === 0 ? (0 as const) : (1 as const),
      mask: [1 as const]
    }))
    const shares = (keep: TrainConfig["keep"]) =>
      GrpoBatch.trainRequests(trajectories(steps), { ...update, keep }, { key: "7", learningRate: 1e-3 })
        .flatMap(({ datums }) => datums)
        .flatMap(({ weights }) => weights)
    assert.deepStrictEqual(shares({ name: "all" }), [0.25, 0.25])
    assert.deepStrictEqual(shares({ name: "differing", draws: 0 }), [0.5, 0.5])
    assert.deepStrictEqual(shares({ name: "difficulty", low: 0.2, high: 0.6 }), [0.5, 0.5])
  })

  it("keeps sequences of advantage 0 only with a KL term", () => {
    const equal = trajectories(
      [0, 1].map(() => ({ instruction: 0, question: 0, reward: 1 as const, mask: [1 as const] }))
    )
    const kept = (changes: Partial<TrainConfig>) =>
      GrpoBatch.trainRequests(equal, { ...update, ...changes }, { key: "7", learningRate: 1e-3 }).flatMap(
        ({ datums }) => datums
      ).length
    assert.deepStrictEqual(
      [
        kept({}),
        kept({ kl: { name: "loss", coefficient: 0.1 } }),
        kept({ kl: { name: "advantages", coefficient: 0.1 } })
      ],
      [0, 2, 2]
    )
  })
})
