/** How flags and settings name a chat model. */
import type { ModelProvider } from "./ProposerModel.ts"

export interface ModelName {
  readonly provider: Exclude<ModelProvider, "offline">
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

/**
 * Reads `openai:gpt-4.1-mini`, `http://127.0.0.1:11434/v1#qwen3` or `anthropic+https://gateway.example#claude-haiku-4-5`; null for
 * another text.
 */
export const parse = (text: string): ModelName | null => {
  const [, provider, model = ""] = /^(openai|anthropic|google):(.+)$/u.exec(text) ?? []
  if (isProvider(provider)) return { provider, model, url: null, text }
  const [, gateway, url = "", served = ""] =
    /^(?:(openai|anthropic|google)\+)?(https?:\/\/[^#\s]+)#(.+)$/u.exec(text) ?? []
  if (!URL.canParse(url)) return null
  return { provider: isProvider(gateway) ? gateway : "openai-compatible", model: served, url, text }
}

const isProvider = (name: string | undefined): name is "openai" | "anthropic" | "google" => name !== undefined
