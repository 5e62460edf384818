import { PythonText } from "@inspo/domain"

/**
 * The final answer in what a policy wrote: the content of the last `<answer>…</answer>` pair, without surrounding white
 * space, or null when there is none. An opening tag that is never closed does not swallow the text up to a later pair, and
 * what is within observations does not count (see {@link ownTexts}).
 *
 * @example
 * ```ts
 * import { AnswerExtraction } from "@inspo/reward"
 *
 * AnswerExtraction.extractAnswer("<think> The town, in <answer> tags.</think><answer> Ostrel Bay</answer>") // "Ostrel Bay"
 * ```
 */
export const extractAnswer = (response: string): string | null => {
  const content = ownTexts(response).flatMap(innermostAnswers).at(-1)
  return content === undefined ? null : PythonText.strip(content)
}

/**
 * The texts of a response outside its observations. An observation is between information tags; text before a closing
 * tag without an opening one belongs to it too, and an observation that lost its closing tag lasts until the next
 * `<think>`. Other messages of the environment cannot be distinguished from the policy's words.
 */
export const ownTexts = (response: string): ReadonlyArray<string> => {
  const parts = response.split("</information>")
  return parts.flatMap((part, index) => {
    const start = part.indexOf("<information>")
    const isClosed = index < parts.length - 1
    if (start < 0) return isClosed ? [] : [part]
    const resumed = isClosed ? -1 : part.indexOf("<think>", start)
    return resumed < 0 ? [part.slice(0, start)] : [part.slice(0, start), part.slice(resumed)]
  })
}

/**
 * Parts a solution after the last marker with which a chat template opens the assistant's turn (ChatML, Llama 3, Gemma,
 * DeepSeek, and `<|assistant|>`). Without a marker all of it is the response.
 */
export const splitSolution = (solution: string): { readonly prompt: string; readonly response: string } => {
  const marker = Array.from(solution.matchAll(assistantMarker)).at(-1)
  const start = marker === undefined ? 0 : marker.index + marker[0].length
  return { prompt: solution.slice(0, start), response: solution.slice(start) }
}

const assistantMarker =
  /(?:<\|im_start\|>assistant|<\|start_header_id\|>assistant<\|end_header_id\|>|<start_of_turn>model|<｜Assistant｜>|<\|assistant\|>)\s*/gu

const innermostAnswers = (text: string): ReadonlyArray<string> =>
  text
    .split("</answer>")
    .slice(0, -1)
    .flatMap((part) => {
      const start = part.lastIndexOf(opening)
      return start < 0 ? [] : [part.slice(start + opening.length)]
    })

const opening = "<answer>"
