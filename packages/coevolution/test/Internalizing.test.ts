import { assert, it } from "@effect/vitest"
import { ClauseTexts, Internalizing } from "@inspo/coevolution"
import { ByteTokenizer } from "@inspo/rollout/testing"
import { Instruction, Trajectory } from "@inspo/domain"
import type { Engine, TrainRequest } from "@inspo/engine"
import { layerBm25 } from "@inspo/retrieval/Bm25"
import { Rollout } from "@inspo/rollout"
import { Array as Arr, Effect, Schema } from "effect"
import { algorithm, layerRollouts, prepare } from "./support/ScriptedRun.ts"

const instruction = (id: string, text: string) => Instruction.make(text, { id })
const seed = instruction("i0", "The plain text.")
const best = instruction("i7", "Another text. Always search before you answer.")

const Asked = Schema.Struct({
  agent: Schema.Literals(["search-r1", "iter-research"]),
  rollouts: Schema.Literals([1, 3, 8]),
  updates: Schema.Literals([1, 4]),
  batchSize: Schema.Literals([2, 4]),
  rewards: Schema.Array(Schema.Literals([0.5, 1])).check(Schema.isMinLength(8), Schema.isMaxLength(8))
})

it.effect.prop(
  "each update trains rewarded turns after the prompt of the other instruction, by their reward",
  [Asked],
  ([{ agent, batchSize, rewards, rollouts, updates }]) =>
    Effect.gen(function* () {
      const { data, engine, passages } = yield* prepare(algorithm)
      const requests: Array<TrainRequest> = []
      const recording: Engine.Interface = {
        ...engine,
        train: (request) => {
          requests.push(request)
          return engine.train(request)
        }
      }
      const questions = Arr.take(data.train, rollouts)
      const likelihoods = yield* Effect.gen(function* () {
        const made = yield* (yield* Rollout).collect(
          questions.map((question, index) => ({
            id: Trajectory.TrajectoryId.make(`train/1/${index}/0`),
            instruction: best,
            question,
            seed: `${index}`
          }))
        )
        const rewarded = made.map((one, index) => ({ ...one, reward: rewards[index] ?? 1 }))
        if (!Arr.isReadonlyArrayNonEmpty(rewarded)) return assert.fail("no rollouts")
        const found = yield* Internalizing.internalize({
          algorithm: {
            ...algorithm,
            train: { ...algorithm.train, batchSize, kl: { name: "loss", coefficient: 0.1 } }
          },
          instruction: seed,
          rewarded,
          questions: new Map(questions.map((question) => [question.id, question])),
          updates
        })
        const segments = rewarded.flatMap((one) =>
          Trajectory.segments(one).map((segment) => ({ ...segment, id: one.id, reward: one.reward }))
        )
        assert.lengthOf(segments, agent === "search-r1" ? rollouts : 2 * rollouts)
        for (const { datums, loss } of requests) {
          assert.lengthOf(datums, (segments.length / rollouts) * Math.min(batchSize, rollouts))
          assert.strictEqual(loss.klCoefficient, 0)
          for (const { advantages, logprobs, prompt, response, weights } of datums) {
            const text = ByteTokenizer.tokenizer.decode(prompt)
            const one =
              segments.find(
                (other) =>
                  String(other.response) === String(response) &&
                  ByteTokenizer.tokenizer.decode(other.prompt).replace(best.text, seed.text) === text
              ) ?? assert.fail("a segment of a rollout")
            assert.include(text, seed.text)
            assert.notInclude(text, best.text)
            assert.deepStrictEqual(
              advantages,
              one.mask.map((isAction) => (isAction === 1 ? one.reward : 0))
            )
            assert.deepStrictEqual(
              weights.map((weight) => weight > 0),
              one.mask.map((isAction) => isAction === 1)
            )
            // The log-probabilities of the scripted engine depend on the token alone.
            assert.deepStrictEqual(logprobs, one.logprobs)
          }
        }
        return found
      }).pipe(
        Effect.provide(
          layerRollouts(
            { ...algorithm, rollout: { ...algorithm.rollout, agent: { name: agent } } },
            recording,
            layerBm25(passages)
          )
        )
      )
      assert.lengthOf(requests, updates)
      assert.lengthOf(new Set(requests.map(({ key }) => key)), updates)
      assert.lengthOf(likelihoods, updates)
      for (const likelihood of likelihoods) assert.isBelow(likelihood, 0)
    }),
  { arbitrary: { runs: 20 } }
)

it.effect.prop(
  "each text about a clause is in an update, all of it the policy's, and the likelihood is that of rollouts",
  [Schema.Literals([1, 2, 3, 5])],
  ([updates]) =>
    Effect.gen(function* () {
      const { data, engine, passages } = yield* prepare(algorithm)
      const texts = ClauseTexts.of(best.text, seed.text)
      const requests: Array<TrainRequest> = []
      const recording: Engine.Interface = {
        ...engine,
        train: (request) => {
          requests.push(request)
          return engine.train(request)
        }
      }
      const internalized = (given: typeof texts) =>
        Effect.gen(function* () {
          const [question] = data.train
          if (question === undefined) return assert.fail("no questions")
          const id = Trajectory.TrajectoryId.make("train/1/0/0")
          const made = yield* (yield* Rollout).collect([{ id, instruction: best, question, seed: "0" }])
          const rewarded = made.map((one) => ({ ...one, reward: 1 }))
          if (!Arr.isReadonlyArrayNonEmpty(rewarded)) return assert.fail("no rollouts")
          const questions = new Map([[question.id, question]])
          return yield* Internalizing.internalize({
            algorithm,
            instruction: seed,
            rewarded,
            questions,
            updates,
            texts: given
          })
        }).pipe(Effect.provide(layerRollouts(algorithm, recording, layerBm25(passages))))
      const likelihoods = yield* internalized(texts)
      const trained = requests.splice(0).flatMap(({ datums }) => datums)
      const { decode, encode, endOfSequence } = ByteTokenizer.tokenizer
      for (const { answer, question } of texts) {
        const datum = trained.find(
          ({ prompt, response }) =>
            decode(prompt).includes(question) && String(response) === String([...encode(answer), endOfSequence])
        )
        assert.isTrue(datum?.weights.every((weight) => weight > 0))
        assert.isTrue(datum?.advantages.every((advantage) => advantage === 1))
      }
      assert.deepStrictEqual(likelihoods, yield* internalized([]))
    }),
  { arbitrary: { runs: 4 } }
)
