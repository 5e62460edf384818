/** Language models as judges. */
import { judgedMethods } from "@inspo/coevolution"
import type { RunConfig } from "@inspo/config"
import { ModelName, Prices } from "@inspo/reflection"
import { Metering } from "@inspo/reflection/models"
import { type JudgeModel, JudgeModels, JudgePrompt, RewardError } from "@inspo/reward"
import * as JudgeReward from "@inspo/reward/JudgeReward"
import { Effect, Layer } from "effect"
import * as LanguageModelLayer from "./LanguageModelLayer.ts"

const { defaultAttempts, maxOutputTokens } = JudgePrompt

/** The language model of a judge, and what its calls cost. */
export const judging = ({ budget, keys, requests }: RunConfig, name: string | null) => {
  const options = { price: Prices.priceOf(ModelName.modelOf(name), budget.prices), maxOutputTokens }
  return {
    meter: Metering.measure(options),
    atMost: (prompt: string) => Metering.atMost(options, [prompt], defaultAttempts * (1 + requests.retries)),
    layer: LanguageModelLayer.layer("judge", { name, key: keys.judge, maxOutputTokens, temperature: 0 }, requests)
  }
}

export const layerOf = (config: RunConfig) =>
  Layer.effect(
    JudgeModels,
    Effect.gen(function* () {
      const models = yield* Effect.forEach(judgedMethods(config), ({ model, setting }) => {
        const { layer, ...options } = judging(config, model)
        return Effect.map(Effect.provide(JudgeReward.judgeModel(options), layer), (judge) => [setting, judge] as const)
      })
      const bySetting = new Map<string, JudgeModel>(models)
      return (setting: string) =>
        Effect.mapError(
          Effect.fromNullishOr(bySetting.get(setting)),
          () => new RewardError({ reward: setting, reason: "it names no language model" })
        )
    })
  )
