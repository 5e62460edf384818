import { assert, describe, it } from "@effect/vitest"
import { WorldQuestion } from "@inspo/datasets"
import { Instruction, Trajectory } from "@inspo/domain"
import { layerBm25 } from "@inspo/retrieval/Bm25"
import { layerExactMatch } from "@inspo/reward"
import { defaultConfig, type Episode, layer, Rollout } from "@inspo/rollout"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Effect, Layer, Schema } from "effect"

const Seed = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))

const counts = { train: 0, validation: 0, test: 40 }

/** Follows the facts of the question one search at a time, and answers only if every fact was shown to it. */
const perfectAgent =
  (questions: ReadonlyArray<WorldQuestion.WorldQuestion>): ScriptedEngine.Script =>
  (prompt) => {
    const asked = questions.find(({ question }) => prompt.includes(`Question: ${question}<|assistant|>`))
    if (asked === undefined) return "<answer> unknown</answer>"
    const observations = prompt.split("<information>").slice(1)
    const next = asked.decomposition[observations.length]
    if (next !== undefined) return `<think> One hop.</think><search> ${next.entity.name}</search>`
    const hasRead = asked.decomposition.every(({ value }, hop) => observations[hop]?.includes(value.name))
    return `<answer> ${hasRead ? asked.answer.name : "unknown"}</answer>`
  }

const instruction = Instruction.make("Answer the question.", { id: "i0" })

const episodes = (questions: ReadonlyArray<WorldQuestion.WorldQuestion>): ReadonlyArray<Episode> =>
  questions.map((question, index) => ({
    id: Trajectory.TrajectoryId.make(`test/0/${index}/0`),
    instruction,
    question,
    seed: `${index}`
  }))

describe("Episodes in the generated world", () => {
  it.effect.prop(
    "every question is answered by searching for one entity at a time",
    [Seed],
    ([seed]) =>
      Effect.gen(function* () {
        const { passages, questions } = yield* WorldQuestion.generate({ seed, counts })
        const environment = Layer.mergeAll(
          ScriptedEngine.layer(perfectAgent(questions.test)),
          layerBm25(passages),
          layerExactMatch
        )
        const trajectories = yield* Rollout.pipe(
          Effect.flatMap(({ collect }) => collect(episodes(questions.test))),
          Effect.provide(Layer.provide(layer(defaultConfig), environment), { local: true })
        )
        trajectories.forEach((trajectory, i) => {
          const question = questions.test[i] ?? assert.fail()
          assert.strictEqual(trajectory.reward, 1, `${question.question} ${trajectory.answer}`)
          assert.strictEqual(trajectory.finishReason, "answered")
          assert.strictEqual(trajectory.toolCalls, question.decomposition.length)
        })
      }),
    { arbitrary: { runs: 3 }, timeout: 30_000 }
  )
})
