import { Effect } from "effect"
import { sumAll } from "effect/Number"
import type { SampleRequest, SampleResult } from "../../Engine.ts"
import { conversations, datum, distance, requests, score, training } from "./Conversations.ts"
import { isRefused, type LawOf, preserving, same, trainingLaw } from "./Law.ts"

export const trainingLaws: ReadonlyArray<LawOf> = [
  trainingLaw("training without advantages changes nothing", (engine, expect, settings) =>
    Effect.gen(function* () {
      const all = yield* conversations(engine, settings)
      const before = yield* score(engine, all)
      const metrics = yield* engine.train(training(all.map(datum(0)), "zero", settings))
      const after = yield* score(engine, all)
      yield* expect(distance(before.flat(), after.flat()) <= settings.tolerance, "log-probabilities changed")
      yield* expect(metrics.gradientNorm === 0, `the gradient's norm is ${metrics.gradientNorm}`)
    }).pipe(preserving(engine))
  ),

  trainingLaw(
    "a positive advantage makes a sequence likelier, a negative one less likely",
    (engine, expect, settings) =>
      Effect.gen(function* () {
        const all = yield* conversations(engine, settings)
        for (const advantage of [1, -1]) {
          yield* Effect.gen(function* () {
            const before = (yield* score(engine, all)).flat()
            const metrics = yield* engine.train(training(all.map(datum(advantage)), `advantage ${advantage}`, settings))
            const after = (yield* score(engine, all)).flat()
            const gain = sumAll(after) - sumAll(before)
            yield* expect(advantage * gain > 0, `advantage ${advantage} changed the log-probability by ${gain}`)
            yield* expect(metrics.tokens === before.length, `${metrics.tokens} tokens counted of ${before.length}`)
          }).pipe(preserving(engine))
        }
      })
  ),

  trainingLaw("observation tokens are not learned", (engine, expect, settings) =>
    Effect.gen(function* () {
      const all = yield* conversations(engine, settings)
      const before = yield* score(engine, all)
      const observed = all.map((conversation) => ({
        ...datum(0)(conversation),
        advantages: conversation.mask.map((bit) => 1 - bit)
      }))
      yield* engine.train(training(observed, "observations", settings))
      const after = yield* score(engine, all)
      yield* expect(
        distance(before.flat(), after.flat()) <= settings.tolerance,
        "advantages of weight 0 changed the policy"
      )
    }).pipe(preserving(engine))
  ),

  trainingLaw("the reference policy stays where the engine started", (engine, expect, settings) =>
    Effect.gen(function* () {
      if (engine.profile.scoresReference === false) return
      const klCoefficient = engine.profile.klInLoss === false ? 0 : 0.1
      const all = yield* conversations(engine, settings)
      const before = yield* engine.score("reference", all)
      yield* engine.train(training(all.map(datum(1)), "reference", settings, klCoefficient))
      const after = yield* engine.score("reference", all)
      yield* expect(distance(before.flat(), after.flat()) === 0, "training moved the reference policy")
      if (klCoefficient === 0) return
      const { kl } = yield* engine.train(training(all.map(datum(0)), "pull", settings, klCoefficient))
      yield* expect(kl > 0, `the KL estimate of a policy that has moved is ${kl}`)
    }).pipe(preserving(engine))
  ),

  trainingLaw(
    "while the weights are held, samples are those before training, and then those after it",
    (engine, expect, settings) =>
      Effect.gen(function* () {
        const { hold } = engine
        if (hold === undefined) return
        const all = yield* conversations(engine, settings)
        const asked = requests(engine, settings)
        const before = yield* engine.sample(asked)
        const [during, after] = yield* Effect.gen(function* () {
          yield* hold
          const update = engine.train(training(all.map(datum(1)), "held", settings))
          const [during] = yield* Effect.all([engine.sample(asked), update], { concurrency: 2 })
          return [during, yield* engine.sample(asked)]
        }).pipe(Effect.scoped)
        if (engine.profile.deterministic) {
          yield* expect(same(before, during), "a sample that began while the weights were held is another one")
          yield* expect(same(before, after), "a sample after the training is not of the held weights")
        }
        const released = sequencesOf(asked, yield* engine.sample(asked))
        const scores = yield* engine.score("current", released)
        yield* expect(
          distance(
            released.flatMap(({ logprobs }) => logprobs),
            scores.flat()
          ) <= settings.tolerance,
          "samples after the hold are not of the trained weights"
        )
      }).pipe(preserving(engine))
  ),

  trainingLaw("a loss term that the profile excludes is refused", (engine, expect, settings) =>
    Effect.gen(function* () {
      if (engine.profile.klInLoss !== false) return
      const all = yield* conversations(engine, settings)
      const refused = yield* isRefused(engine.train(training(all.map(datum(1)), "term", settings, 0.1)))
      yield* expect(refused, "a KL term was accepted that the profile says has no place in the loss")
    })
  )
]

const sequencesOf = (asked: ReadonlyArray<SampleRequest>, results: ReadonlyArray<SampleResult>) =>
  results.flatMap(({ sequences }, index) =>
    sequences.map(({ logprobs, tokens }) => ({ prompt: asked[index]?.prompt ?? [], response: tokens, logprobs }))
  )
