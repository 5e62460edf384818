import type { Tokenizer } from "@inspo/engine"

/** How many tokens there are up to the first of the stop texts, it included; null where there is none. */
export const firstStop = (
  tokens: ReadonlyArray<number>,
  stop: ReadonlyArray<string>,
  { decode }: Tokenizer
): number | null => {
  const ends = (length: number) => {
    const text = decode(tokens.slice(0, length))
    return stop.some((part) => text.includes(part))
  }
  if (stop.length === 0 || !ends(tokens.length)) return null
  let length = 1
  while (!ends(length)) length++
  return length
}
