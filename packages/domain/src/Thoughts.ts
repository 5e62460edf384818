/** Thoughts that a reasoning model wrote into its answer. */

/**
 * Takes away what a reasoning model thought aloud before it answered, as servers send it that do not part the two:
 * `<think>…</think>`, `[THINK]…[/THINK]`, the channels of harmony, and the like. The opening tag may be missing, since many
 * chat templates write it. Thoughts that never end leave no answer. Later mentions of the tags stay.
 *
 * `isAnswer` says whether what follows an end without a beginning can be the answer; by default any text can.
 *
 * @example
 * ```ts
 * import { Thoughts } from "@inspo/domain"
 *
 * Thoughts.strip("Is it a bug? No.\n</think>\n\nbilling") // "billing"
 * ```
 */
export const strip = (answer: string, isAnswer: (rest: string) => boolean = () => true): string => {
  const final = [...answer.matchAll(finalChannel)].at(-1)
  if (final !== undefined)
    return answer
      .slice(final.index + final[0].length)
      .replace(endOfMessage, "")
      .trimStart()
  if (/^\s*<\|(?:channel|start)\|>/u.test(answer)) return ""
  for (const { opening, tag } of kinds) {
    const isOpened = opening.test(answer)
    const tags = [...answer.matchAll(tag)].map(({ 0: text, 1: closing, index }) => ({
      closes: closing !== undefined,
      rest: () => answer.slice(index + text.length).trimStart()
    }))
    let depth = isOpened ? 0 : 1
    for (const { closes, rest } of tags) {
      depth += closes ? -1 : 1
      if (depth === 0) return isOpened || isAnswer(rest()) ? rest() : answer
    }
    // An opening tag among the thoughts may be a mention, without an end of its own.
    if (isOpened) return tags.find(({ closes }) => closes)?.rest() ?? ""
  }
  return answer
}

const kind = (opening: string, closing: string) => ({
  opening: new RegExp(`^\\s*(?:${opening})`, "iu"),
  tag: new RegExp(`(${closing})|${opening}`, "giu")
})

const kinds = [
  kind(String.raw`<(?:seed:)?think(?:ing)?>`, String.raw`</(?:seed:)?think(?:ing)?>`),
  kind(String.raw`\[THINK\]`, String.raw`\[/THINK\]`),
  kind("◁think▷", "◁/think▷"),
  kind(String.raw`<\|START_THINKING\|>`, String.raw`<\|END_THINKING\|>`),
  kind(String.raw`<\|channel>thought`, String.raw`<channel\|>`)
]

/** Also as a server leaves it that drops special tokens. */
const finalChannel =
  /<\|channel\|>\s*final\b(?:[^<]|<\|constrain\|>)*<\|message\|>|^\s*analysis[\s\S]*?assistantfinal/giu
const endOfMessage = /<\|(?:end|return|start|call)\|>[\s\S]*$/u
