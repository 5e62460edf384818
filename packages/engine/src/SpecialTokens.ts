/** Texts without special tokens. */

/**
 * Makes a function that rewrites the special tokens in a text: `[INST]` becomes `(INST)`, `STOP` becomes `S TOP`. What is still
 * one afterwards is removed, so the result holds none; other text stays as it is. `normalise` is what the tokenizer makes of a text
 * before it looks for tokens again: a text in which only this shows one is returned normalised.
 *
 * @example
 * ```ts
 * import { SpecialTokens } from "@inspo/engine"
 *
 * const escape = SpecialTokens.escaping(["[INST]", "</s>"])
 * escape("See [INST] in [1].") // "See (INST) in [1]."
 * ```
 */
export const escaping = (
  tokens: Iterable<string>,
  normalise: ((text: string) => string) | null = null
): ((text: string) => string) => {
  const written = Array.from(new Set(tokens)).filter((token) => token !== "")
  if (written.length === 0) return (text) => text
  const rewrite = rewriting(written)
  if (normalise === null) return rewrite
  const rewriteHidden = rewriting([...written, ...written.map(normalise).filter((token) => token !== "")])
  return (text) => {
    let plain = rewrite(text)
    for (let round = 0; round < mostRounds; round++) {
      const normalised = normalise(plain)
      const rewritten = rewriteHidden(normalised)
      if (rewritten === normalised) return plain
      plain = rewritten
    }
    return ""
  }
}

/** A normaliser that writes special tokens again and again gets no text at all. */
const mostRounds = 8

const rewriting = (tokens: ReadonlyArray<string>) => {
  // The longest first, as tokenizers match; one test of the first character spares most of a text the others.
  const sorted = tokens.toSorted((a, b) => b.length - a.length).map(literal)
  const starts = Array.from(new Set(tokens.map((token) => literal(String.fromCodePoint(token.codePointAt(0) ?? 0)))))
  const any = new RegExp(`(?=${starts.join("|")})(?:${sorted.join("|")})`, "gu")
  return (text: string): string => {
    let rest = text.replace(any, rewritten)
    // Removing shortens the text, so this ends.
    for (let before = text; rest !== before;) {
      before = rest
      rest = rest.replace(any, "")
    }
    return rest
  }
}

const rewritten = (token: string): string => {
  const inner = bracketed.exec(token)?.[1]
  if (inner !== undefined) return `(${inner})`
  const [first = "", ...others] = token
  return others.length === 0 ? "" : `${first} ${others.join("")}`
}

const bracketed = /^[<[{](.*)[>\]}]$/su

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
