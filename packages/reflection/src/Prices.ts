/** What models cost. Prices change: a user's own rows come before these. */
import type { Spent } from "@inspo/domain"
import * as ListedPrices from "./internal/ListedPrices.ts"
import type { ModelPrice } from "./ProposerModel.ts"

/** List prices in US dollars per million tokens, of prompts up to 200,000 tokens, of the models served on {@link listedOn}. */
export const listed: ReadonlyArray<ModelPrice> = ListedPrices.rows

/** The day of the list, as YYYY-MM-DD. */
export const listedOn: string = ListedPrices.date

/** Tokens read and written; thoughts are written tokens. */
export interface Tokens {
  readonly input: number
  readonly output: number
}

/** The price of a model, null where it is not known. A name may end with a date that its row leaves out (`-20250929`). */
export const priceOf = (model: string | null, own: ReadonlyArray<ModelPrice>): ModelPrice | null => {
  if (model === null) return null
  const undated = model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/u, "")
  const rows = [...own, ...listed]
  return rows.find((row) => row.model === model) ?? rows.find((row) => row.model === undated) ?? null
}

/** That the prices of these models are not known, with the remedy; null for no models. */
export const unknown = (models: ReadonlyArray<string>, remedy: string): string | null =>
  models.length === 0
    ? null
    : `The price of ${[...new Set(models)].join(" and ")} is not in the list of ${listedOn}, so its dollars are not counted; ${remedy}.`

/** What tokens cost in US dollars, or null where the price is not known. */
export const usd = (price: ModelPrice | null, { input, output }: Tokens): number | null =>
  price === null ? null : (price.input * input + price.output * output) / 1_000_000

/** What so many calls with these tokens cost together. */
export const spent = (price: ModelPrice | null, calls: number, tokens: Tokens): Spent.Spent => {
  const total = tokens.input + tokens.output
  return { calls, tokens: total, usd: total === 0 ? 0 : usd(price, tokens) }
}

/** The most that so many requests cost together, of which none takes more than these tokens. */
export const atMost = (price: ModelPrice | null, requests: number, { input, output }: Tokens): Spent.Spent =>
  spent(price, requests, { input: requests * input, output: requests * output })
