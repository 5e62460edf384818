/** Who writes new instructions for served populations: a language model that the config file names. */
import { local } from "@inspo/config/Environment"
import { Proposer } from "@inspo/reflection"
import { defaultConfig, ModelPrice, OptimizerConfig, OptimizerProvider } from "@inspo/reflection/OptimizerConfig"
import type * as Evolving from "@inspo/serve/Evolving"
import { Context, Effect, Layer, Schema } from "effect"

/** `keyEnv` names the variable with the model's key, its provider's usual one by default; `budgetUsd` is for each population. */
export const Config = Schema.Struct({
  provider: Schema.Literals(OptimizerProvider.literals).check(
    Schema.makeFilter((provider) => provider !== "offline" || "a provider of language models")
  ),
  model: Schema.NonEmptyString,
  url: Schema.optionalKey(OptimizerConfig.fields.url),
  keyEnv: Schema.optionalKey(Schema.NonEmptyString),
  maxOutputTokens: Schema.optionalKey(OptimizerConfig.fields.maxOutputTokens),
  prompt: Schema.optionalKey(OptimizerConfig.fields.prompt),
  prices: Schema.optionalKey(Schema.Array(ModelPrice)),
  budgetUsd: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)))
})
export interface Config extends Schema.Schema.Type<typeof Config> {}

/** The optimizer of a config; null where none is named. */
export const make = Effect.fnUntraced(function* (config: Config | null) {
  if (config === null) return null
  const { budgetUsd = null, keyEnv = null, prices = [], provider, ...others } = config
  if (provider === "offline") return null
  const { layer } = yield* Effect.promise(() => import("../optimizer/ModelProposer.ts"))
  const { budget, keys, requests } = local
  const context = yield* Layer.build(
    layer({
      kind: "reflection",
      optimizer: { ...defaultConfig, ...others, provider },
      budget: { ...budget, prices },
      keys: { ...keys, optimizer: keyEnv },
      requests
    })
  )
  return { proposer: Context.get(context, Proposer), budgetUsd } satisfies Evolving.Optimizer
})
