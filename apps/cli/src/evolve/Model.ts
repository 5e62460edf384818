import { Thoughts } from "@inspo/domain"
import { type ModelName, type ProposerModel, isPermanent } from "@inspo/reflection"
import { Metering, Provider, providers } from "@inspo/reflection/models"
import { Effect, Result, Schema } from "effect"
import type { AiError, Response } from "effect/ai"
import { HttpClient } from "effect/http"
import * as Secret from "../config/Secret.ts"
import { type UsageError, usageError } from "../Failure.ts"
import * as Keys from "./Keys.ts"

export interface Answer {
  readonly text: string
  /** `cut` at the limit of tokens, or `refused` by the model or a filter of its provider. */
  readonly end: "done" | "cut" | "refused"
  /** Of request and answer; absent where the server does not say. */
  readonly tokens?: number
}

export interface Model {
  readonly name: ModelName.ModelName
  readonly price: ProposerModel.ModelPrice | null
  /** Asks for an answer; `spend` gets its price in US dollars, also where it fails. */
  readonly ask: (
    conversation: ReadonlyArray<Provider.Message>,
    maxOutputTokens: number,
    spend: (usd: number) => void
  ) => Effect.Effect<Answer, ModelFailed>
  /** The most that an answer can cost in US dollars; null if the price is not known. */
  readonly atMost: (conversation: ReadonlyArray<Provider.Message>, maxOutputTokens: number) => number | null
  /** Fails if the server does not answer, refuses the key or does not have the model. */
  readonly find: Effect.Effect<void, UsageError>
}

/** A request failed after all its repetitions. A `status` of 401, 402 or 404 says that every other one would fail, too. */
export class ModelFailed extends Schema.TaggedError<ModelFailed>()("ModelFailed", {
  problem: Schema.String,
  status: Schema.NullOr(Schema.Int)
}) {
  override get message() {
    return this.problem
  }
}

/** A model by its name. `flag` names it in messages; `keyVariable` holds its key, by default the variable of its provider. */
export const connect = Effect.fnUntraced(function* (
  flag: string,
  name: ModelName.ModelName,
  price: ProposerModel.ModelPrice | null,
  keyVariable: string | null
): Effect.fn.Return<Model, UsageError, HttpClient.HttpClient> {
  const client = yield* HttpClient.HttpClient
  const provider = providers[name.provider]
  const variable = keyVariable ?? provider.apiKeyEnv
  const apiKey =
    variable === null
      ? null
      : yield* Secret.fromEnvironment(variable, flag, "the model's key", () =>
          usageError(`${flag} is ${name.text}, and ${variable} is not set; set it to the model's key.`)
        )
  const { model, url } = name
  const ask: Model["ask"] = Effect.fnUntraced(
    function* (conversation, maxOutputTokens, spend) {
      const options = { model, url, apiKey, maxOutputTokens, temperature: null, timeout, retries }
      const served = yield* Effect.mapError(Provider.make(provider, options), failed)
      const [result, { usd }] = yield* Metering.measure({ price, maxOutputTokens })(
        conversation.map(({ text }) => text),
        served.generateText({ prompt: conversation.map(({ role, text }) => ({ role, content: text })) })
      )
      spend(usd ?? 0)
      if (Result.isFailure(result)) return yield* failed(result.failure)
      const { finishReason, text, usage } = result.success
      const [input, output] = [usage.inputTokens.total, usage.outputTokens.total]
      return {
        text: Thoughts.strip(text),
        end: ends[finishReason] ?? "done",
        ...(input === undefined || output === undefined ? {} : { tokens: input + output })
      }
    },
    Effect.provideService(HttpClient.HttpClient, client)
  )
  return {
    name,
    price,
    ask,
    atMost: (conversation, maxOutputTokens) =>
      price === null
        ? null
        : Metering.atMost(
            { price, maxOutputTokens },
            conversation.map(({ text }) => text)
          ).usd,
    find: Provider.find(provider, { model, url, apiKey, timeout: "30 seconds" }).pipe(
      Effect.provideService(HttpClient.HttpClient, client),
      Effect.catchIf(
        (error) => !prevents(error),
        () => Effect.void
      ),
      Effect.mapError((error) =>
        usageError(
          `${flag} is ${name.text}: ${Provider.explain(error)}. ${apiKey === null && Provider.kindOf(error) === "unauthorized" ? `Give its key with --api-key-env ${Keys.originOf(url)}=NAME. ` : ""}Nothing was started.`
        )
      ),
      Effect.asVoid
    )
  }
})

/** Whether a start is of no use. A server that is busy, or fails for a moment, is no reason. */
const prevents = (error: AiError.AiError): boolean => {
  const kind = Provider.kindOf(error)
  return isPermanent(kind) || kind === "unreachable" || kind === "unreadable" || kind === "other"
}

const failed = (error: AiError.AiError): ModelFailed =>
  new ModelFailed({ problem: Provider.explain(error), status: statuses.get(Provider.kindOf(error)) ?? null })

const statuses: ReadonlyMap<ReturnType<typeof Provider.kindOf>, number> = new Map([
  ["unauthorized", 401],
  ["quota-exhausted", 402],
  ["not-found", 404]
])

const ends: Readonly<Partial<Record<Response.FinishReason, Answer["end"]>>> = {
  length: "cut",
  "content-filter": "refused"
}

const timeout = "5 minutes" as const
const retries = 4
