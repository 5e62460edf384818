/** Stop texts for an engine that may take single tokens only: others are found in what it samples. */
import type { Engine, SampledSequence } from "./Engine.ts"
import type { Tokenizer } from "./Tokenizer.ts"

/** Divides stop texts between an engine and the caller, which asks about the same few again and again. */
export const make = ({ profile, tokenizer }: Pick<Engine.Interface, "profile" | "tokenizer">) => {
  const single = new Map<string, boolean>()
  const isTaken = (text: string): boolean => {
    if (profile.stopTexts !== "single-token") return true
    const known = single.get(text) ?? tokenizer.encode(text).length === 1
    single.set(text, known)
    return known
  }
  return {
    /** Those that the engine can stop at. */
    taken: (stop: ReadonlyArray<string>): ReadonlyArray<string> => stop.filter(isTaken),
    /** Ends a sequence after the first of those that the engine cannot stop at. */
    enforce: (sequence: SampledSequence, stop: ReadonlyArray<string>): SampledSequence => {
      const others = stop.filter((text) => !isTaken(text))
      const end = endOf(sequence.tokens, others, tokenizer)
      return end === null ? sequence : cut(sequence, end)
    }
  }
}

/** The text of a sequence without what ended it, and the stop text that did. */
export const textOf = (
  { stopReason, tokens }: Pick<SampledSequence, "stopReason" | "tokens">,
  stop: ReadonlyArray<string>,
  { decode, endOfSequence }: Tokenizer
): { readonly text: string; readonly stoppedAt: string | null } => {
  if (stopReason === "length") return { text: decode(tokens), stoppedAt: null }
  if (tokens.at(-1) === endOfSequence) return { text: decode(tokens.slice(0, -1)), stoppedAt: null }
  const text = decode(tokens)
  const at = Math.min(text.length, ...stop.map((part) => text.indexOf(part)).filter((found) => found >= 0))
  return { text: text.slice(0, at), stoppedAt: stop.find((part) => text.startsWith(part, at)) ?? null }
}

/** How many tokens there are up to the first of these texts, it included; null where there is none. */
export const endOf = (
  tokens: ReadonlyArray<number>,
  texts: ReadonlyArray<string>,
  { decode }: Tokenizer
): number | null => {
  const holdsOne = (length: number) => {
    const text = decode(tokens.slice(0, length))
    return texts.some((one) => text.includes(one))
  }
  if (texts.length === 0 || !holdsOne(tokens.length)) return null
  let [without, within] = [0, tokens.length]
  while (within - without > 1) {
    const middle = (without + within) >> 1
    if (holdsOne(middle)) within = middle
    else without = middle
  }
  return within
}

/** What stopping after so many tokens would have given, since no token depends on those after it. */
export const cut = ({ logprobs, tokens }: SampledSequence, length: number): SampledSequence => ({
  tokens: tokens.slice(0, length),
  logprobs: logprobs.slice(0, length),
  stopReason: "stop"
})
