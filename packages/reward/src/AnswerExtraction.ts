import { strip } from "./internal/python.ts"

/**
 * The content of the last `<answer>…</answer>` pair, without surrounding white space, or null when there is none.
 *
 * Give it the response alone: the instruction may show a pair as an example, which Search-R1's own extraction, run over
 * prompt and response together, takes for an answer.
 */
export const extractAnswer = (response: string): string | null => {
  const content = Array.from(response.matchAll(/<answer>(.*?)<\/answer>/gs)).at(-1)?.[1]
  return content === undefined ? null : strip(content)
}
