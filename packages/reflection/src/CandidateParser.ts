/** Reads the candidates out of an optimizer's answer. */

/** `critique` is what stands before the first candidate; `texts` are the candidates by number, possibly empty. */
export interface ParsedAnswer {
  readonly critique: string
  readonly texts: ReadonlyArray<string>
}

/**
 * Reads `<ins_1>…</ins_1>` … `<ins_N>…</ins_N>`, in any order.
 *
 * A candidate without a closing tag ends where the next one begins, or with the answer. Code fences around a candidate
 * are dropped. `<ins_0>` repeats the parent and is ignored. Of several candidates with one number the last that is not
 * empty counts, since optimizers name the tags before they use them.
 *
 * @example
 * ```ts
 * import { CandidateParser } from "@inspo/reflection"
 *
 * CandidateParser.parse("It never searches. <ins_2>B</ins_2> <ins_1>A")
 * // { critique: "It never searches.", texts: ["A", "B"] }
 * ```
 */
export const parse = (answer: string): ParsedAnswer => {
  const tags = [...answer.matchAll(candidateTag)]
  const byNumber = new Map<number, string>()
  for (const [index, tag] of tags.entries()) {
    const number = Number(tag[2])
    if (tag[1] === "/" || number === 0) continue
    const text = unfence(answer.slice(tag.index + tag[0].length, tags[index + 1]?.index))
    if (text !== "" || !byNumber.has(number)) byNumber.set(number, text)
  }
  return {
    critique: unfence(answer.slice(0, tags[0]?.index)),
    texts: [...byNumber].sort(([a], [b]) => a - b).map(([, text]) => text)
  }
}

const candidateTag = /<\s*(\/?)\s*ins_(\d+)\s*>/gi

const unfence = (text: string): string =>
  text
    .trim()
    .replace(/^```[^\n`]*(\n|$)/, "")
    .replace(/(^|\n)```$/, "")
    .trim()
