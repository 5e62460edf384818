/** US dollars as text, where the cost of a call can be a small part of a cent. */

/** `$12.34`, `$0.0042`: two digits that count, at least. */
export const dollars = (usd: number): string => `$${(usd >= 1 || usd === 0 ? cents : digits).format(usd)}`

/** Calls that were in flight when a process ended, as a sentence. */
export const lost = ({ calls, usd }: { readonly calls: number; readonly usd: number }): string =>
  `${calls} ${calls === 1 ? "call was" : "calls were"} in flight when a previous process ended; ` +
  `their cost is unknown, counted as ${dollars(usd)}.`

const cents = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const digits = new Intl.NumberFormat("en-US", { minimumSignificantDigits: 2, maximumSignificantDigits: 2 })
