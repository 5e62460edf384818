/** Thoughts that a reasoning model wrote into its answer. */

/**
 * Takes away what a reasoning model thought aloud before it answered: a leading `<think>…</think>`, also when the opening
 * tag was part of the prompt and is missing, or the closing one was never reached. Later mentions of the tags stay, since an
 * instruction may speak of them.
 *
 * @example
 * ```ts
 * import { Thoughts } from "@inspo/reflection"
 *
 * Thoughts.strip("<think>It never searches.</think><ins_1>Search.</ins_1>") // "<ins_1>Search.</ins_1>"
 * ```
 */
export const strip = (answer: string): string => {
  const opening = answer.match(/^\s*<think(?:ing)?>/iu)?.[0] ?? null
  const tags = [...answer.matchAll(/<(\/?)think(?:ing)?>/giu)]
  let depth = 0
  for (const { 0: tag, 1: slash, index } of tags) {
    depth += slash === "/" ? -1 : 1
    const rest = answer.slice(index + tag.length).trimStart()
    if (opening !== null && depth === 0) return rest
    // A closing tag too many ends thoughts only where an answer follows.
    if (opening === null && depth < 0) return /<\s*ins[_ -]?\d/iu.test(rest) ? rest : answer
  }
  if (opening === null) return answer
  const first = tags.find(([, slash]) => slash === "/")
  return first === undefined ? "" : answer.slice(first.index + first[0].length).trimStart()
}
