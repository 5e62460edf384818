import type { Trajectory } from "@inspo/domain"

/** The grammar of a policy that may call certain tools. */
export interface Grammar {
  /** The texts at which a turn ends: the closing tags of the actions. */
  readonly stop: ReadonlyArray<string>
  /** Reads the action of one turn. */
  readonly parse: (text: string) => Trajectory.Action
  /** The tools that a chat model may call by the tool calls of its API; without it, actions are read from the text alone. */
  readonly native?: ReadonlyArray<string>
  /** Most tokens of the turn, if fewer than `maxResponseTokens`; a chat model keeps no limit. */
  readonly maxTokens?: number
  /** The texts up to which a turn that stopped here continues; none if it is over. */
  readonly goesOn?: (text: string) => ReadonlyArray<string>
}

/**
 * The grammar of turns that may answer or call these tools, each by the tag of its name.
 *
 * The action is the content, without surrounding white space, of the first closed answer or tool tag. Up to there the
 * protocol tags (think, information, answer and those of the tools) must be side by side: each opened tag is closed by
 * its own kind before another opens. Only a closing `</think>` may come first, since some chat templates open the
 * thought themselves. The turn is invalid if it breaks this rule, closes no action, leaves the action empty, or writes an information
 * tag, which is the environment's.
 *
 * @example
 * ```ts
 * import { ActionParser } from "@inspo/rollout"
 *
 * const { parse } = ActionParser.grammar(["search", "calculate"])
 * parse("<think> Twice seven.</think><calculate> 2 * 7</calculate>") // { kind: "calculate", content: "2 * 7" }
 * ```
 */
export const grammar = (tools: ReadonlyArray<string>): Grammar => {
  const actions = new Set([...tools, "answer"])
  const tag = new RegExp(`<(/?)(${["think", "information", ...actions].join("|")})>`, "g")
  const parse = (text: string): Trajectory.Action => {
    let opened: { readonly name: string; readonly contentStart: number } | null = null
    let isFirst = true
    for (const match of text.matchAll(tag)) {
      const [whole, slash, name = ""] = match
      if (slash === "") {
        if (opened !== null || name === "information") return invalid
        opened = { name, contentStart: match.index + whole.length }
      } else if (opened === null) {
        if (!isFirst || name !== "think") return invalid
      } else {
        if (opened.name !== name) return invalid
        if (actions.has(name)) {
          const content = text.slice(opened.contentStart, match.index).trim()
          return content === "" ? invalid : { kind: name, content }
        }
        opened = null
      }
      isFirst = false
    }
    return invalid
  }
  return { stop: Array.from(actions, (name) => `</${name}>`), parse }
}

/** A text on one line, without anything between angle brackets. */
export const withoutTags = (text: string): string =>
  text
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim()

const invalid: Trajectory.Action = { kind: "invalid", content: "" }

/** The grammar of Search-R1: search or answer. */
export const { parse, stop }: Grammar = grammar(["search"])
