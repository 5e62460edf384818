import type { Trajectory } from "@inspo/domain"

/** The texts at which a turn ends: the closing tags of the two actions. */
export const stop: ReadonlyArray<string> = ["</search>", "</answer>"]

/**
 * Reads the action of one turn: the content, without surrounding white space, of its first closed `<search>` or
 * `<answer>`.
 *
 * Up to there the protocol tags (think, search, information, answer) must lie side by side: each opened tag is closed by
 * its own kind before another opens. Only a closing `</think>` may come first, since some chat templates open the
 * thought. The turn is invalid if it breaks this rule, closes neither action, leaves the action empty, or writes an
 * information tag, which is the environment's.
 *
 * @example
 * ```ts
 * import { ActionParser } from "@inspo/rollout"
 *
 * ActionParser.parse("<think> Who founded it?</think><search> founder of Lumen Works</search>")
 * // { kind: "search", content: "founder of Lumen Works" }
 * ```
 */
export const parse = (text: string): Trajectory.Action => {
  let opened: { readonly name: string; readonly contentStart: number } | null = null
  let isFirst = true
  for (const match of text.matchAll(tag)) {
    const [whole, slash, name] = match
    if (slash === "") {
      if (opened !== null || name === "information") return invalid
      opened = { name: name ?? "", contentStart: match.index + whole.length }
    } else if (opened === null) {
      if (!isFirst || name !== "think") return invalid
    } else {
      if (opened.name !== name) return invalid
      if (name === "search" || name === "answer") {
        const content = text.slice(opened.contentStart, match.index).trim()
        return content === "" ? invalid : { kind: name, content }
      }
      opened = null
    }
    isFirst = false
  }
  return invalid
}

const tag = /<(\/?)(think|search|information|answer)>/g

const invalid: Trajectory.Action = { kind: "invalid", content: "" }
