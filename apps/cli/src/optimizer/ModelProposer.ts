import { ConfigError } from "@inspo/coevolution"
import type { RunConfig } from "@inspo/config"
import { Prices, PromptTemplate, type Proposal, Proposer, ProposerError } from "@inspo/reflection"
import * as OptimizerProposer from "@inspo/reflection/OptimizerProposer"
import { Effect, Layer } from "effect"
import { LanguageModel } from "effect/ai"
import { readText } from "../config/TextFile.ts"
import * as LanguageModelLayer from "./LanguageModelLayer.ts"
import { withSettings } from "./Settings.ts"

/** An optimizer that is a language model. */
export interface ModelOptimizer extends Pick<RunConfig, "budget" | "keys" | "requests"> {
  readonly kind: PromptTemplate.PromptKind
  readonly optimizer: RunConfig["optimizer"] & {
    readonly provider: LanguageModelLayer.LanguageModelConfig["provider"]
  }
}

/** Tokens that the failures, or the history, may take of a prompt, as estimated: half of what small models hold. */
const maxEvidenceTokens = 16_384

/** A language model as the proposer, with the user's prompt and prices. Its errors name the settings. */
export const layer = ({ budget, keys, kind, optimizer, requests }: ModelOptimizer) =>
  Layer.effect(
    Proposer,
    Effect.gen(function* () {
      const { initial, propose } = OptimizerProposer.make(yield* LanguageModel.LanguageModel, {
        kind,
        prompts: optimizer.prompt === null ? {} : { [kind]: yield* readPrompt(kind, optimizer.prompt) },
        price: Prices.priceOf(optimizer.model, budget.prices),
        maxOutputTokens: optimizer.maxOutputTokens,
        requests: 1 + requests.retries,
        maxEvidenceTokens
      })
      return Proposer.of({
        initial: (request) => inSettings(initial(request)),
        propose: (request) => inSettings(propose(request))
      })
    })
  ).pipe(
    Layer.provide(
      LanguageModelLayer.layer("optimizer", { ...optimizer, key: keys.optimizer, temperature: null }, requests)
    )
  )

const inSettings = <E>(proposing: Effect.Effect<Proposal, ProposerError | E>) =>
  Effect.mapBoth(proposing, {
    onSuccess: ({ failure, ...proposal }): Proposal =>
      failure === undefined
        ? proposal
        : { ...proposal, failure: { ...failure, message: withSettings("optimizer", failure.kind, failure.message) } },
    onFailure: (error) =>
      error instanceof ProposerError
        ? new ProposerError({ ...error, reason: withSettings("optimizer", error.failure.kind, error.reason) })
        : error
  })

const readPrompt = Effect.fnUntraced(function* (kind: PromptTemplate.PromptKind, file: string) {
  const unusable = (expected: string, remedy: string) =>
    new ConfigError({ field: "optimizer.prompt", value: file, expected, remedy })
  const text = yield* Effect.mapError(readText(file), (cause) =>
    cause._tag === "UsageError"
      ? unusable("a text in UTF-8", cause.problem)
      : unusable("a file that can be read", `It cannot be (${cause.reason._tag}); check the path.`)
  )
  return yield* Effect.fromResult(PromptTemplate.parse(kind, file, text)).pipe(
    Effect.mapError(({ expected, found }) =>
      unusable(`a prompt of proposer.kind ${kind} whose answer can be read`, `It holds ${found}, expected ${expected}.`)
    )
  )
})
