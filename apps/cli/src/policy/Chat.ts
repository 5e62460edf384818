/** The chat model of `policy.model` as the policy of a run. */
import { notAModel, type RunConfig } from "@inspo/config"
import { ModelName, Prices, type ProposerErrorKind } from "@inspo/reflection"
import { Metering, Provider } from "@inspo/reflection/models"
import { Chat } from "@inspo/domain"
import { ChatPolicy, ChatRollout, type LayerOptions, type RolloutOptions } from "@inspo/rollout"
import * as ChatEngine from "@inspo/rollout/ChatEngine"
import { Effect, Layer, Ref, Result } from "effect"
import { FetchHttpClient } from "effect/http"
import * as LanguageModelLayer from "../proposer/LanguageModelLayer.ts"
import { withSettings } from "../proposer/Settings.ts"

/** Rollouts of the chat model, and the engine that identifies its frozen weights. */
export const layerRollout = (config: Settings, played: RolloutOptions, options: LayerOptions) =>
  Layer.merge(ChatRollout.layer(played, options), ChatEngine.layer).pipe(Layer.provide(layer(config)))

type Settings = Pick<RunConfig, "budget" | "engine" | "keys" | "policy" | "requests" | "rollout">

/** The chat model itself. Its errors name the settings, and never hold the key. */
export const layer = (config: Settings) =>
  Layer.effect(ChatPolicy.ChatPolicy, make(config)).pipe(Layer.provide(FetchHttpClient.layer))

const make = Effect.fnUntraced(function* ({ budget, engine, keys, policy, requests, rollout }: Settings) {
  const name = ModelName.parse(policy.model ?? "")
  if (name === null) return yield* notAModel("policy.model")
  const { provider, variable, ...way } = yield* LanguageModelLayer.wayTo("policy", {
    name: name.text,
    key: keys.policy
  })
  const { maxResponseTokens: maxOutputTokens, temperature } = rollout
  const metering = { price: Prices.priceOf(name.model, budget.prices), maxOutputTokens }
  const served = yield* Provider.chat(provider, {
    ...way,
    maxOutputTokens,
    temperature: temperatureOf(name, temperature),
    timeout: `${LanguageModelLayer.timeoutOf("policy", requests)} seconds`,
    retries: requests.retries
  }).pipe(Effect.mapError((error) => LanguageModelLayer.unusable("policy", variable, error)))

  const said = yield* Ref.make<ReadonlySet<string>>(new Set())
  const write: ChatPolicy.ChatPolicy.Interface["write"] = Effect.fn("Chat.write")(function* (request) {
    const texts = textsOf(request)
    const [result, spent] = yield* Metering.measure(metering)(texts, served(request))
    if (Result.isSuccess(result)) {
      const { calls, finishReason, text, usage } = result.success
      const problem = unended[finishReason]
      // Said once: every episode may suffer the same.
      if (problem !== undefined && !(yield* Ref.getAndUpdate(said, (all) => new Set([...all, problem]))).has(problem))
        yield* Effect.logWarning(`${name.model}: an answer ${problem}; it counts as it is`)
      // A server that counts nothing says 0 or nothing.
      const input = usage.inputTokens.total || tokensOf(texts)
      const output = usage.outputTokens.total || tokensOf([text, ...calls.map((call) => JSON.stringify(call))])
      return { text, input, output, spent, ...(calls.length === 0 ? {} : { calls }) } satisfies ChatPolicy.ChatAnswer
    }
    const kind = Provider.kindOf(result.failure)
    return yield* new ChatPolicy.ChatFailure({
      reason: withSettings("policy", kind, Provider.explain(result.failure)),
      ends: ofEpisode.has(kind) ? "episode" : "collection",
      spent
    })
  })

  return ChatPolicy.ChatPolicy.of({
    profile: {
      name: name.provider,
      model: name.model,
      // Without the address, which may change.
      fingerprint: `chat:${name.provider}:${name.model}`,
      contextLength: engine.contextLength ?? unlimited,
      concurrency: engine.concurrency ?? defaultConcurrency
    },
    write,
    atMost: (request) => Metering.atMost(metering, textsOf(request)),
    countTokens: Chat.estimateTokens
  })
})

/** What keeps an answer from being whole. */
const unended: Readonly<Partial<Record<Provider.Written["finishReason"], string>>> = {
  length: "was cut at rollout.maxResponseTokens",
  "content-filter": "was refused by the model or its provider"
}

/** A server does not accept one conversation, or answers it in an unreadable form: others may go well. */
const ofEpisode: ReadonlySet<ProposerErrorKind> = new Set(["rejected", "unreadable"])

/** A provider does not report its context length; it refuses a conversation that is too long. */
const unlimited = Number.MAX_SAFE_INTEGER

const defaultConcurrency = 8

/** 1 is the default of hosted models, some of which refuse the parameter. Other servers have defaults of their own. */
const temperatureOf = ({ provider }: ModelName.ModelName, temperature: number): number | null =>
  temperature === 1 && provider !== "openai-compatible" ? null : temperature

/** All texts of a request that its provider counts. */
const textsOf = ({ messages, tools }: ChatPolicy.ChatRequest): ReadonlyArray<string> => [
  ...tools.map((tool) => JSON.stringify(tool)),
  ...messages.flatMap((message) =>
    message.role === "tool"
      ? message.results.map(({ text }) => text)
      : [message.text, ...(message.calls ?? []).map((call) => JSON.stringify(call))]
  )
]

const tokensOf = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, text) => sum + Chat.estimateTokens(text), 0)
