/** The text processing of the Search-R1 code, case by case. The agent `search-r1-exact` uses it. */
import { PythonText, Question, type Trajectory } from "@inspo/domain"

/** A turn up to its first `</search>`, even after an `</answer>`; without one, up to its first `</answer>`. */
export const cut = (text: string): string => upTo(text, "</search>") ?? upTo(text, "</answer>") ?? text

/** The action of a turn: its first closed search or answer, wherever the other tags are. It may be empty. */
export const parse = (text: string): Trajectory.Action => {
  const [, kind, content] = /<(search|answer)>([^]*?)<\/\1>/.exec(text) ?? []
  return kind === undefined || content === undefined
    ? { kind: "invalid", content: "" }
    : { kind, content: PythonText.strip(content) }
}

/** The passages of one search, best first: numbered, each with its title and text as in its corpus row. */
export const passagesText = (passages: ReadonlyArray<Question.Passage>): string =>
  passages
    .map((passage, index) => {
      const [first = "", ...rest] = Question.contentsOf(passage).split("\n")
      return `Doc ${index + 1}(Title: ${first}) ${rest.join("\n")}\n`
    })
    .join("")

/** A search result as shown to the policy. */
export const information = (result: string): string => `\n\n<information>${PythonText.strip(result)}</information>\n\n`

/** A question as the data scripts prepare it: without white space around it, and with an ASCII question mark at its end. */
export const question = (text: string): string => {
  const stripped = PythonText.strip(text)
  return stripped.endsWith("?") ? stripped : `${stripped}?`
}

const upTo = (text: string, end: string): string | undefined => {
  const at = text.indexOf(end)
  return at < 0 ? undefined : text.slice(0, at + end.length)
}
