import { ConfigError, type RunConfig } from "@inspo/coevolution"
import { Prices, PromptTemplate } from "@inspo/reflection"
import * as OptimizerProposer from "@inspo/reflection/OptimizerProposer"
import { Effect, Layer } from "effect"
import { readText } from "../config/TextFile.ts"
import * as LanguageModelLayer from "./LanguageModelLayer.ts"

/** An optimizer that is a language model. */
export type ModelOptimizer = RunConfig["optimizer"] & {
  readonly provider: LanguageModelLayer.LanguageModelConfig["provider"]
}

/** A language model as the proposer, with the user's prompts and prices. */
export const layer = (kind: PromptTemplate.PromptKind, config: ModelOptimizer) =>
  Layer.unwrap(
    Effect.map(readPrompts(config.prompts), (prompts) =>
      OptimizerProposer.layer({
        kind,
        prompts,
        price: Prices.priceOf(config.model, config.prices),
        maxOutputTokens: config.maxOutputTokens,
        requests: 1 + config.retries,
        maxEvidenceTokens: config.maxEvidenceTokens
      })
    )
  ).pipe(Layer.provide(LanguageModelLayer.layer("optimizer", config)))

/** The templates of the files that are named. */
const readPrompts = Effect.fnUntraced(function* (files: RunConfig["optimizer"]["prompts"]) {
  const named = PromptTemplate.PromptKind.literals.flatMap((kind) => {
    const file = files[kind]
    return file === null ? [] : [{ kind, file }]
  })
  const templates = yield* Effect.forEach(named, ({ file, kind }) =>
    Effect.map(readPrompt(kind, file), (template) => [kind, template] as const)
  )
  return Object.fromEntries(templates)
})

const readPrompt = Effect.fnUntraced(function* (kind: PromptTemplate.PromptKind, file: string) {
  const unusable = (expected: string, remedy: string) =>
    new ConfigError({ field: `optimizer.prompts.${kind}`, value: file, expected, remedy })
  const text = yield* Effect.mapError(readText(file), (cause) =>
    cause._tag === "UsageError"
      ? unusable("a text in UTF-8", cause.problem)
      : unusable("a file that can be read", `It cannot be (${cause.reason._tag}); check the path.`)
  )
  return yield* Effect.fromResult(PromptTemplate.parse(kind, file, text)).pipe(
    Effect.mapError(({ reason }) => unusable("a prompt with its placeholders", `But ${reason}.`))
  )
})
