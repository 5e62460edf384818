/** How flags and settings name a language model. */
import { Schema } from "effect"

/** The protocols of language models. */
export const ModelProvider = Schema.Literals(["openai-compatible", "openai", "anthropic", "google"])
export type ModelProvider = typeof ModelProvider.Type

export interface ModelName {
  readonly provider: ModelProvider
  readonly model: string
  /** The base URL; null for the provider's own. */
  readonly url: string | null
  /** As it was given. */
  readonly text: string
}

/** The forms of a name, for messages. */
export const forms =
  "openai:MODEL, anthropic:MODEL, google:MODEL, the address of a server with a chat completions API, as URL#MODEL, or of a gateway, as " +
  "PROVIDER+URL#MODEL"

/** Reads `openai:gpt-4.1-mini`, `http://127.0.0.1:11434/v1#qwen3` or `anthropic+https://gateway.example#claude-haiku-4-5`, else null. */
export const parse = (text: string): ModelName | null => {
  const [, provider, model = ""] = /^(openai|anthropic|google):(.+)$/u.exec(text) ?? []
  if (isProvider(provider)) return { provider, model, url: null, text }
  const [, gateway, url = "", served = ""] =
    /^(?:(openai|anthropic|google)\+)?(https?:\/\/[^#\s]+)#(.+)$/u.exec(text) ?? []
  if (!URL.canParse(url)) return null
  return { provider: isProvider(gateway) ? gateway : "openai-compatible", model: served, url, text }
}

/** The model in a name, with or without an address; null without one. */
export const modelOf = (text: string | null): string | null => plainName(text ?? "")?.model ?? null

/** A name as PROVIDER:MODEL, since the address of a server can change during a run; another text as it is. */
export const withoutUrl = (text: string): string => {
  const name = parse(text)
  return name === null ? text : `${name.provider}:${name.model}`
}

/** The address of a server in a name, or null. */
export const urlOf = (text: string): string | null => parse(text)?.url ?? null

/** The reverse: a name with the address of a server, in place of its own. */
export const withUrl = (text: string, url: string | null): string => {
  const name = plainName(text)
  if (url === null || name === null) return withoutUrl(text)
  return `${name.provider === "openai-compatible" ? "" : `${name.provider}+`}${url}#${name.model}`
}

/** The parts of PROVIDER:MODEL, of a name with or without an address. */
const plainName = (text: string): { readonly provider: string; readonly model: string } | null => {
  const [, provider, model] = /^([a-z-]+):(.+)$/u.exec(withoutUrl(text)) ?? []
  return provider === undefined || model === undefined ? null : { provider, model }
}

const isProvider = (name: string | undefined): name is "openai" | "anthropic" | "google" => name !== undefined
