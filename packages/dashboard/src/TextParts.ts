/** The parts of a response. */

/** `kind` is the tag around a part in lower case, such as `think` or `search`; `plain` without a tag. */
export interface TextPart {
  readonly kind: string
  readonly text: string
}

/**
 * Splits a text at its outermost tags. A tag without an end extends to the end of the text. The parts in order are the
 * text without its outermost tags: `<think>Who?</think><search>mayor</search>` is a `think` with "Who?" and a `search` with "mayor".
 */
export const textParts = (text: string): ReadonlyArray<TextPart> => {
  const found: Array<TextPart> = []
  const add = (kind: string, part: string) => {
    if (part !== "" && (kind !== "plain" || part.trim() !== "")) found.push({ kind, text: part })
  }
  let rest = text
  for (;;) {
    const opening = /<([a-z][\w-]{0,30})>/iu.exec(rest)
    const [tag, name] = opening ?? []
    if (opening === null || tag === undefined || name === undefined) break
    const from = opening.index + tag.length
    const end = rest.indexOf(`</${name}>`, from)
    add("plain", rest.slice(0, opening.index))
    add(name.toLowerCase(), end < 0 ? rest.slice(from) : rest.slice(from, end))
    rest = end < 0 ? "" : rest.slice(end + name.length + 3)
  }
  add("plain", rest)
  return found
}
