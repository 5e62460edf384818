/** Which language models can serve as the proposer from here. */
import * as Provider from "@inspo/reflection/Provider"
import { providers } from "@inspo/reflection/Providers"
import { Config, Effect, Option, type Redacted } from "effect"
import { httpClient } from "../proposer/LanguageModelLayer.ts"

/** A provider, whether it can be used now, and why not. */
export interface Reachability {
  readonly provider: string
  readonly ok: boolean
  readonly detail: string
}

/**
 * Asks every provider whose key the environment holds for its list of models, which costs no token. A server of chat
 * completions is asked where `OPENAI_BASE_URL` says there is one.
 */
export const probeAll = Effect.forEach(
  Object.values(providers),
  (provider) => (provider.url === null ? probeOwn(provider) : probeHosted(provider)),
  { concurrency: "unbounded" }
)

const probeHosted = Effect.fnUntraced(function* (provider: Provider.Provider) {
  const variable = provider.apiKeyEnv ?? ""
  const key = yield* secret(variable)
  return Option.isNone(key)
    ? absent(provider, `not set up: the environment holds no ${variable}`)
    : yield* probe(provider, null, key, `takes the key in ${variable}`)
})

const probeOwn = Effect.fnUntraced(function* (provider: Provider.Provider) {
  const url = yield* Effect.option(Config.String("OPENAI_BASE_URL"))
  return Option.isNone(url)
    ? absent(provider, "not set up: name a server in OPENAI_BASE_URL to look for it here")
    : yield* probe(provider, url.value, yield* secret("OPENAI_API_KEY"), "answers at OPENAI_BASE_URL")
})

const probe = (provider: Provider.Provider, url: string | null, key: Option.Option<Redacted.Redacted>, found: string) =>
  Provider.probe(provider, { url, apiKey: Option.getOrNull(key), timeout: "10 seconds" }).pipe(
    Effect.provide(httpClient),
    Effect.match({
      onSuccess: (): Reachability => ({ provider: provider.name, ok: true, detail: found }),
      onFailure: (error) => absent(provider, Provider.explain(error))
    })
  )

const secret = (variable: string) => Effect.option(Config.Redacted(variable))

const absent = ({ name }: Provider.Provider, detail: string): Reachability => ({ provider: name, ok: false, detail })
