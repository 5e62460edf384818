import { assert, describe, it } from "@effect/vitest"
import { Law } from "@inspo/domain/testing"
import { Reward, RewardError, Rewards, defaultOptions } from "@inspo/reward"
import * as JudgeReward from "@inspo/reward/JudgeReward"
import { RewardLaws } from "@inspo/reward/testing"
import { Effect, Layer, Stream } from "effect"
import { LanguageModel } from "effect/ai"

for (const scope of ["response", "searchr1", "verl"] as const)
  describe.each(Object.entries(Rewards.builtIn))(`%s, scope ${scope}`, (_, { make }) => {
    const readsPrompt = scope === "searchr1"
    for (const { check, name } of RewardLaws.laws(make({ ...defaultOptions, scope }), { readsPrompt }))
      it.effect(name, () => check)
  })

describe("a judge", () => {
  const verdict = LanguageModel.make({
    generateText: () => Effect.succeed([{ type: "text" as const, text: "<score>0.75</score>" }]),
    streamText: () => Stream.empty
  })
  const judge = JudgeReward.layer({ scope: "response" }).pipe(
    Layer.provide(Layer.effect(LanguageModel.LanguageModel, verdict))
  )
  const score: Reward.Interface["score"] = (attempt) =>
    Reward.use((reward) => reward.score(attempt)).pipe(Effect.provide(judge))
  for (const { check, name } of RewardLaws.laws({ score }, { runs: 30 })) it.effect(name, () => check)
})

type Score = Reward.Interface["score"]

/** For each law a reward that breaks it, and no other. */
const bugs: Readonly<Record<string, (score: Score) => Score>> = {
  "a reward is in [0, 1], and nothing is thrown": (score) => (attempt) =>
    Effect.map(score(attempt), (scored) => ({ ...scored, reward: scored.reward / attempt.turns.length })),
  "an answer is a part of what the attempt holds": (score) => (attempt) =>
    Effect.map(score(attempt), (scored) => ({ ...scored, answer: scored.answer?.toUpperCase() ?? null })),
  "an attempt is scored alike each time, alone or among others": (score) => {
    let open = 0
    return (attempt) =>
      Effect.gen(function* () {
        open++
        yield* Effect.yieldNow
        const scored = yield* score(attempt)
        const isBusy = open > 1
        open--
        return isBusy ? yield* new RewardError({ reward: "busy", reason: "there are too many" }) : scored
      })
  },
  "the instruction does not change the reward": () =>
    Rewards.builtIn.em.make({ ...defaultOptions, scope: "searchr1" }).score,
  "what scoring cost is counted, and not negative": (score) => (attempt) =>
    Effect.map(score(attempt), (scored) => ({ ...scored, spent: { calls: 1, tokens: NaN, usd: null } }))
}

describe("the laws of a reward find a planted bug", () => {
  const { score } = Rewards.builtIn.em.make(defaultOptions)

  it.effect.each(RewardLaws.laws({ score }).map(({ name }) => name))("%s", (name) =>
    Effect.gen(function* () {
      const bug = bugs[name] ?? assert.fail("no bug is planted")
      assert.deepStrictEqual(
        (yield* Law.broken(RewardLaws.laws({ score: bug(score) }))).map(({ law }) => law),
        [name]
      )
    })
  )
})
