import { ConfigError } from "@inspo/coevolution"
import type { RunConfig } from "@inspo/config"
import {
  Learners,
  ModelName,
  Prices,
  PromptTemplate,
  type Proposal,
  Proposer,
  ProposerError,
  type ProposerModel
} from "@inspo/reflection"
import { ModelProposer } from "@inspo/reflection/models"
import { Effect, Layer } from "effect"
import { LanguageModel } from "effect/ai"
import { readText } from "../config/TextFile.ts"
import * as LanguageModelLayer from "./LanguageModelLayer.ts"
import { withSettings } from "./Settings.ts"

export interface Options extends Pick<RunConfig, "budget" | "keys" | "requests"> {
  /** What the model sees, with the file of the user's prompt, or null for the built-in one; or how it learns. */
  readonly kind: Exclude<RunConfig["proposer"]["kind"], { readonly name: "random" }>
  readonly model: ProposerModel.ProposerModel
}

/** Most tokens, as estimated, of the failures or the history in a prompt: half of the context of small models. */
const maxEvidenceTokens = 16_384

/** A language model as the proposer, with the user's prompt and prices. Its errors name the settings. */
export const layer = ({ budget, keys, kind: method, model, requests }: Options) => {
  const { name: kind, prompt } = "prompt" in method ? method : ({ name: "reflection", prompt: null } as const)
  return Layer.effect(
    Proposer,
    Effect.gen(function* () {
      const { initial, propose } = ModelProposer.make(yield* LanguageModel.LanguageModel, {
        kind,
        prompts: prompt === null ? {} : { [kind]: yield* readPrompt(kind, prompt) },
        price: Prices.priceOf(ModelName.modelOf(model.name), budget.prices),
        maxOutputTokens: model.maxOutputTokens,
        requests: 1 + requests.retries,
        maxEvidenceTokens,
        learner: Learners.fromConfig(method)
      })
      return Proposer.of({
        initial: (request) => inSettings(initial(request)),
        propose: (request) => inSettings(propose(request))
      })
    })
  ).pipe(
    Layer.provide(LanguageModelLayer.layer("proposer", { ...model, key: keys.proposer, temperature: null }, requests))
  )
}

const inSettings = <E>(proposing: Effect.Effect<Proposal, ProposerError | E>) =>
  Effect.mapBoth(proposing, {
    onSuccess: ({ failure, ...proposal }): Proposal =>
      failure === undefined
        ? proposal
        : { ...proposal, failure: { ...failure, message: withSettings("proposer", failure.kind, failure.message) } },
    onFailure: (error) =>
      error instanceof ProposerError
        ? new ProposerError({ ...error, reason: withSettings("proposer", error.failure.kind, error.reason) })
        : error
  })

const readPrompt = Effect.fnUntraced(function* (kind: PromptTemplate.PromptKind, file: string) {
  const unusable = (expected: string, remedy: string) =>
    new ConfigError({ field: "proposer.kind.prompt", value: file, expected, remedy })
  const text = yield* Effect.mapError(readText(file), (cause) =>
    cause._tag === "UsageError"
      ? unusable("a text in UTF-8", cause.problem)
      : unusable("a file that can be read", `It cannot be read (${cause.reason._tag}); check the path.`)
  )
  return yield* Effect.fromResult(PromptTemplate.parse(kind, file, text)).pipe(
    Effect.mapError(({ expected, found }) =>
      unusable(`a prompt of proposer.kind ${kind} whose answer can be parsed`, `It has ${found}, expected ${expected}.`)
    )
  )
})
