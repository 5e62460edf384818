import type { Question } from "@inspo/domain"
import type { Tokenizer } from "@inspo/engine"
import { defaultEpisodeConfig, type Texts } from "./EpisodeConfig.ts"

/** What the environment shows after an action: `tokens` are those of `text`. */
export interface Observation {
  readonly text: string
  readonly tokens: ReadonlyArray<number>
}

/** What the policy is shown after a turn without a valid action. */
export const invalidAction: string = defaultEpisodeConfig.texts.invalidAction

/** What the policy is shown when its query matches nothing. */
export const nothingFound = "Nothing was found."

/** What the policy is shown when a tool rejects its input. */
export const rejected = (tool: string, reason: string): string => `The ${tool} failed. ${reason}`.trimEnd()

/** The text of the passages of one search, best first; {@link nothingFound} without any. */
export const passagesText = (
  passages: ReadonlyArray<Question.Passage>,
  texts: Pick<Texts, "passage" | "separator">
): string =>
  passages.length === 0
    ? nothingFound
    : passages.map((passage, i) => passageText(passage, i + 1, texts.passage)).join(texts.separator)

/**
 * Shows a text between information tags, in at most `limit` tokens, which must leave room for {@link envelope}. A text
 * that is too long loses its end, never its closing tag. Tags within the text are neutralised (see {@link neutralise}).
 */
export const make = (tokenizer: Tokenizer, text: string, limit: number): Observation => {
  const shown = ` ${neutralise(text, tokenizer).trim()}`
  // Most texts are short and fit: they are encoded once.
  const start = shown.length > charactersPerToken * limit ? encodeStart(tokenizer, shown, limit) : null
  if (start === null || start.length <= limit) {
    const whole = observe(tokenizer, shown)
    if (whole.tokens.length <= limit) return whole
  }
  const tokens = start ?? tokenizer.encode(shown)
  // Cut text may encode to other tokens than the cut tokens, hence the check after every cut.
  const fit = (kept: number): Observation => {
    // Decoded text may be normalised, and then show tokens that were none before.
    const start = tokenizer.decode(tokens.slice(0, kept)).replace(brokenEnd, "")
    const cut = observe(tokenizer, neutralise(start, tokenizer))
    const excess = cut.tokens.length - limit
    return excess <= 0 || kept === 0 ? cut : fit(Math.max(0, kept - excess))
  }
  return fit(Math.min(tokens.length, limit))
}

/** The text of {@link make} by a measure of tokens that must not shrink as a text grows; null if no observation fits. */
export const within = (countTokens: (text: string) => number, text: string, limit: number): string | null => {
  const shown = ` ${neutralise(text).trim()}`
  const cutTo = (length: number) => observed(shown.slice(0, length).replace(halfCharacter, ""))
  const fits = (length: number) => countTokens(cutTo(length)) <= limit
  if (fits(shown.length)) return observed(shown)
  let [longest, tooLong] = [0, shown.length]
  while (tooLong - longest > 1) {
    const middle = Math.floor((longest + tooLong) / 2)
    if (fits(middle)) longest = middle
    else tooLong = middle
  }
  return fits(longest) ? cutTo(longest) : null
}

const opening = "<information>"

const closing = "</information>"

/** An observation without a text, the shortest that there is. */
export const empty: string = `${opening}${closing}`

/** The text between the tags of an observation. */
export const unwrapped = (shown: string): string => shown.slice(opening.length, -closing.length).trim()

/** The tokens of a text; of a long one, those of its start, at least twice the limit, so that the first ones are exact. */
export const encodeStart = (tokenizer: Tokenizer, text: string, limit: number): ReadonlyArray<number> => {
  for (let length = charactersPerToken * Math.max(limit, 1); length < text.length; length *= 2) {
    const tokens = tokenizer.encode(text.slice(0, length).toWellFormed())
    if (tokens.length >= 2 * limit) return tokens
  }
  return tokenizer.encode(text)
}

/** The tokens of an empty observation: the fewest possible. */
export const envelope = (tokenizer: Tokenizer): number => observe(tokenizer, "").tokens.length

/**
 * Rewrites everything that looks like a tag, such as `</information>`, and every special token of the tokenizer, so that text from
 * outside can neither end its observation nor look like text of the policy. Brackets become round. Where the special tokens are not
 * known, texts in their usual forms are rewritten, such as `<|end|>` and `[INST]`.
 */
export const neutralise = (text: string, { escape = escapeForms }: Pick<Tokenizer, "escape"> = {}): string =>
  escape(text.toWellFormed().replace(tagLike, "($1)"))

const tagLike = /<(\/?[\p{L}\p{N}_|｜▁-]+)>/gu

const escapeForms = (text: string): string => text.replace(tokenLike, "($1$2)")

const tokenLike = /<(\|[^<>\n]{1,64}\|)>|\[(\/?(?:[A-Z]{2,}(?:_[A-Z0-9]+)*|[gs]MASK))\]/g

/** Characters per token that are tried first; prose has about four. */
const charactersPerToken = 16

// A cut within a character of two units leaves the first.
const halfCharacter = /[\uD800-\uDBFF]$/

// A cut within a character leaves a replacement character.
const brokenEnd = /\uFFFD$/

const observe = (tokenizer: Tokenizer, shown: string): Observation => {
  const text = observed(shown)
  return { text, tokens: tokenizer.encode(text) }
}

const observed = (shown: string): string => `${opening}${shown}${closing}`

const passageText = (passage: Question.Passage, rank: number, template: string): string =>
  template.replace(/\{(rank|title|text)\}/g, (_, field) =>
    field === "rank" ? String(rank) : field === "title" ? passage.title.trim() : passage.text.trim()
  )
