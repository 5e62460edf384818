/** Reads the candidates out of a proposer's answer. */

/** `critique` is what is before the first candidate; `texts` are the candidates by number, possibly empty. */
export interface ParsedAnswer {
  readonly critique: string
  readonly texts: ReadonlyArray<string>
}

/** `isCut` says that the answer stopped, or may have, before its end: a last candidate without its closing tag is then left out. */
export interface ParseOptions {
  readonly isCut?: boolean
}

/**
 * Reads `<ins_1>…</ins_1>` … `<ins_N>…</ins_N>`, in any order.
 *
 * A candidate without a closing tag ends where the next one begins, or with the answer. Code fences and bold marks around a
 * candidate are dropped, and an answer whose tags are all written as `&lt;ins_1&gt;` is read as if they were not. `<ins_0>`
 * repeats the parent and is ignored. Of several candidates with one number the last that is not empty counts, since
 * proposers name the tags before they use them.
 *
 * @example
 * ```ts
 * import { CandidateParser } from "@inspo/reflection"
 *
 * CandidateParser.parse("It never searches. <ins_2>B</ins_2> <ins_1>A")
 * // { critique: "It never searches.", texts: ["A", "B"] }
 * ```
 */
export const parse = (written: string, options: ParseOptions = {}): ParsedAnswer => {
  const answer = unescape(written)
  const tags = [...answer.matchAll(candidateTag)]
  const byNumber = new Map<number, string>()
  for (const [index, tag] of tags.entries()) {
    const number = Number(tag[2])
    const next = tags[index + 1]
    if (tag[1] === "/" || number === 0 || (options.isCut === true && next === undefined)) continue
    const text = unwrap(answer.slice(tag.index + tag[0].length, next?.index))
    if (text !== "" || !byNumber.has(number)) byNumber.set(number, text)
  }
  return {
    critique: unwrap(answer.slice(0, tags[0]?.index)),
    texts: [...byNumber].sort(([a], [b]) => a - b).map(([, text]) => text)
  }
}

const candidateTag = /<\s*(?:(\/)\s*)?ins[_ -]?(\d+)\s*>/gi

/** The answer with angle brackets, where it holds tags with escaped ones only. */
const unescape = (answer: string): string =>
  new RegExp(candidateTag, "i").test(answer) || !/&lt;\s*ins[_ -]?\d+\s*&gt;/iu.test(answer)
    ? answer
    : answer.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&")

/** Takes away a fence or bold marks, and white space, around a text. */
const unwrap = (text: string): string =>
  text
    .trim()
    .replace(/^\*\*(?=\s|$)/u, "")
    .replace(/(^|\s)\*\*$/u, "")
    .trim()
    .replace(/^```[^\n`]*(\n|$)/u, "")
    .replace(/(^|\n)```$/u, "")
    .trim()
