/** What models cost. Prices change: a user's own rows come before these. */
import type { Spent } from "@inspo/domain/Spent"
import type { ModelPrice } from "./ProposerModel.ts"

/** List prices in US dollars per million tokens, for prompts of up to 200,000 tokens, as the providers named them in 2025. */
export const listed: ReadonlyArray<ModelPrice> = [
  { model: "gpt-4.1", input: 2, output: 8 },
  { model: "gpt-4.1-mini", input: 0.4, output: 1.6 },
  { model: "gpt-4o", input: 2.5, output: 10 },
  { model: "gpt-4o-mini", input: 0.15, output: 0.6 },
  { model: "gpt-5", input: 1.25, output: 10 },
  { model: "gpt-5-mini", input: 0.25, output: 2 },
  { model: "gpt-5-nano", input: 0.05, output: 0.4 },
  { model: "gpt-5.1", input: 1.25, output: 10 },
  { model: "gpt-5.2", input: 1.75, output: 14 },
  { model: "claude-haiku-4-5", input: 1, output: 5 },
  { model: "claude-sonnet-4", input: 3, output: 15 },
  { model: "claude-sonnet-4-5", input: 3, output: 15 },
  { model: "claude-opus-4-1", input: 15, output: 75 },
  { model: "claude-opus-4-5", input: 5, output: 25 },
  { model: "gemini-2.5-flash", input: 0.3, output: 2.5 },
  { model: "gemini-2.5-pro", input: 1.25, output: 10 }
]

/** Tokens read and written; thoughts are written tokens. */
export interface Tokens {
  readonly input: number
  readonly output: number
}

/**
 * The price of a model, or null where it is not known or no model is named. A name may end with a date (`-20250929`, `-2025-04-14`) that its row
 * leaves out.
 */
export const priceOf = (model: string | null, own: ReadonlyArray<ModelPrice>): ModelPrice | null => {
  if (model === null) return null
  const undated = model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/u, "")
  const rows = [...own, ...listed]
  return rows.find((row) => row.model === model) ?? rows.find((row) => row.model === undated) ?? null
}

/** What tokens cost in US dollars, or null where the price is not known. */
export const usd = (price: ModelPrice | null, { input, output }: Tokens): number | null =>
  price === null ? null : (price.input * input + price.output * output) / 1_000_000

/** What so many calls with these tokens cost together. */
export const spent = (price: ModelPrice | null, calls: number, tokens: Tokens): Spent => {
  const total = tokens.input + tokens.output
  return { calls, tokens: total, usd: total === 0 ? 0 : usd(price, tokens) }
}

/** The most that so many requests cost together, of which none takes more than these tokens. */
export const atMost = (price: ModelPrice | null, requests: number, { input, output }: Tokens): Spent =>
  spent(price, requests, { input: requests * input, output: requests * output })
