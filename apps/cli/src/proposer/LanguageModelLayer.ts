import { ConfigError } from "@inspo/coevolution"
import { notAModel, type RunConfig } from "@inspo/config"
import { ModelName } from "@inspo/reflection"
import { Provider, providers } from "@inspo/reflection/models"
import { Effect, Layer } from "effect"
import { type AiError, LanguageModel } from "effect/ai"
import { FetchHttpClient } from "effect/http"
import * as Secret from "../config/Secret.ts"
import { modelSetting, type Section } from "./Settings.ts"

export interface LanguageModelConfig {
  readonly name: string | null
  /** The environment variable with its key, or null for the provider's default. */
  readonly key: string | null
}

/** The timeout of one request to the model of a section. A proposer writes much longer answers than a judge. */
export const timeoutOf = (section: Section, { timeoutSeconds }: RunConfig["requests"]): number =>
  timeoutSeconds ?? { policy: 300, proposer: 300, judge: 60 }[section]

/** The language model that a section of the config names; a temperature of null is the provider's default. */
export const layer = (
  section: Section,
  config: LanguageModelConfig & { readonly maxOutputTokens: number; readonly temperature: number | null },
  requests: RunConfig["requests"]
) =>
  Layer.effect(
    LanguageModel.LanguageModel,
    Effect.gen(function* () {
      const { provider, variable, ...way } = yield* wayTo(section, config)
      const { maxOutputTokens, temperature } = config
      const timeout = `${timeoutOf(section, requests)} seconds` as const
      const options = { ...way, maxOutputTokens, temperature, timeout, retries: requests.retries }
      return yield* Provider.make(provider, options).pipe(
        Effect.mapError((error) => unusable(section, variable, error))
      )
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))

/** The endpoint of a section's model. Its key comes from the variable named there, or from the provider's default variable. */
export const wayTo = Effect.fnUntraced(function* (section: Section, { key, name }: LanguageModelConfig) {
  const named = ModelName.parse(name ?? "")
  if (named === null) return yield* notAModel(modelSetting[section])
  const { model, url } = named
  const provider = providers[named.provider]
  const variable = key ?? provider.apiKeyEnv
  const apiKey =
    variable === null
      ? null
      : yield* Secret.fromEnvironment(variable, `keys.${section}`, "the model's key", () => unset(section, variable))
  return { provider, model, url, apiKey, variable }
})

/** What is wrong with the endpoint of a section, as an error of its settings. */
export const unusable = (section: Section, variable: string | null, { reason }: AiError.AiError) =>
  reason._tag === "AuthenticationError"
    ? new ConfigError({
        field: `keys.${section}`,
        value: variable ?? "null",
        expected: "a variable with a key of visible ASCII letters",
        remedy: "Check its value for line breaks and spaces."
      })
    : new ConfigError({
        field: modelSetting[section],
        // An unparsable value could contain a password.
        value: "without a URL",
        expected: "a name with an address, such as http://127.0.0.1:8000/v1#qwen3",
        remedy: `Set it in the config file or with --set ${modelSetting[section]}=VALUE.`
      })

const unset = (section: string, variable: string) =>
  new ConfigError({
    field: `keys.${section}`,
    value: variable,
    expected: "a variable that is set in the environment",
    remedy: "Set it to the model's key, or name another variable."
  })
