import { assert, describe, it } from "@effect/vitest"
import { type Algorithm, Presets, run, Strategies } from "@inspo/coevolution"
import { WorldQuestion } from "@inspo/datasets"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, Layer } from "effect"
import * as OwnModel from "../own-model/OwnModel.ts"
import * as OwnProposer from "../own-proposer/OwnProposer.ts"

const asks = "Answer with a name."

const algorithm: Algorithm = {
  ...Presets.tiny,
  seedInstruction: "Answer the question between <answer> and </answer>.",
  train: { ...Presets.tiny.train, fromStep: null },
  rollout: { ...Presets.tiny.rollout, agent: { name: "direct" }, tools: [] },
  verification: { ...Presets.tiny.verification, samples: 0 }
}

describe("a model and a proposer of one's own", () => {
  it.effect("evolve an instruction, with nothing that trains", () =>
    Effect.gen(function* () {
      const { questions } = yield* WorldQuestion.generate({ ...algorithm.data.world, seed: 1 })
      const answers = new Map(
        Object.values(questions)
          .flat()
          .map(({ goldenAnswers: [golden], question }) => [question, golden])
      )
      // Knows every answer, and gives it only if it is asked for a name.
      const answer = (conversation: string) => {
        const [, question = ""] = conversation.split("Question: ")
        const known = conversation.includes(asks) ? (answers.get(question.trim()) ?? "") : "I do not know."
        return Promise.resolve(`<answer> ${known}</answer>`)
      }
      const state = yield* run({
        algorithm,
        data: { ...questions, fingerprint: "world 1", search: "passages" },
        code: "own-model",
        onEvent: () => Effect.void
      }).pipe(
        Effect.provide(
          Layer.mergeAll(
            OwnModel.layer(answer),
            OwnProposer.layer([asks, "Be polite."]),
            Strategies.layer(algorithm),
            layerMemory
          )
        )
      )
      const { phase } = state
      const best = state.instructions.find(({ id }) => phase._tag === "Finished" && id === phase.best)
      assert.include(best?.text, asks)
    })
  )
})
