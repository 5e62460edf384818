import { Effect } from "effect"
import { type Conversation, conversations, datum, distance, requests, score, training } from "./Conversations.ts"
import { isRefused, law, type LawOf, preserving, same, trainingLaw } from "./Law.ts"

export const checkpointLaws: ReadonlyArray<LawOf> = [
  trainingLaw("restoring a checkpoint brings back policy and optimizer", (engine, expect, settings) =>
    Effect.gen(function* () {
      const all = yield* conversations(engine, settings)
      yield* engine.train(training(all.map(datum(1)), "before", settings))
      const saved = yield* engine.save("conformance-restore")
      const [before, samples] = [yield* score(engine, all), yield* engine.sample(requests(engine, settings))]
      yield* engine.train(training(all.map(datum(-1)), "after", settings))
      const once = yield* engine.save("conformance-once")
      yield* engine.restore(saved)
      const restored = yield* score(engine, all)
      yield* expect(
        distance(before.flat(), restored.flat()) <= settings.tolerance,
        "log-probabilities differ after restore"
      )
      if (engine.profile.deterministic) {
        yield* expect(same(samples, yield* engine.sample(requests(engine, settings))), "samples differ after restore")
        yield* engine.train(training(all.map(datum(-1)), "after", settings))
        const twice = yield* engine.save("conformance-twice")
        yield* expect(once.hash === twice.hash, "the same training after a restore gave other weights")
        yield* engine.remove(twice)
      }
      yield* engine.remove(once)
      yield* engine.remove(saved)
    }).pipe(preserving(engine))
  ),

  law(
    "training is refused where the profile excludes it, and the policy that is served can be restored",
    (engine, expect, settings) =>
      Effect.gen(function* () {
        const saved = yield* engine.save("conformance-frozen")
        yield* engine.restore(saved)
        const refused = yield* isRefused(engine.train(training([datum(1)(sampleless)], "frozen", settings)))
        yield* expect(refused, "a training step was accepted by an engine whose profile says that it does not train")
      }),
    ({ trains }) => (trains === false ? null : "the engine trains")
  ),

  law("a removed checkpoint cannot be restored, and can be removed again", (engine, expect) =>
    Effect.gen(function* () {
      const saved = yield* engine.save("conformance-remove")
      yield* engine.remove(saved)
      yield* engine.remove(saved)
      if (engine.profile.removesCheckpoints === false) return
      const refused = yield* isRefused(engine.restore(saved))
      yield* expect(refused, "a removed checkpoint was restored")
    }).pipe(preserving(engine))
  )
]

/** A conversation that no engine has to sample. */
const sampleless: Conversation = { prompt: [1], response: [1], logprobs: [-1], mask: [1] }
