/** The turns of a chat model that calls tools natively, in the tags in which trajectories record them. */
import { type Chat, Thoughts, type Trajectory } from "@inspo/domain"
import { Array, Result } from "effect"
import type { Grammar } from "../ActionParser.ts"
import type { ChatAnswer } from "../ChatPolicy.ts"
import { inputOf, type Reply, type Tool } from "../Tool.ts"

/** One turn. `call` is null for an answer; `rejection` replies to a call whose arguments do not fit, in place of its tool. */
export interface NativeTurn {
  readonly text: string
  readonly action: Trajectory.Action
  readonly call: Chat.ToolCall | null
  readonly rejection: Reply | null
}

/** One turn for each call of a message; without calls, one turn with the answer. */
export const make = (
  { calls = [], text }: Pick<ChatAnswer, "calls" | "text">,
  tools: ReadonlyMap<string, Tool>,
  grammar: Grammar
): Array.NonEmptyReadonlyArray<NativeTurn> =>
  Array.isReadonlyArrayNonEmpty(calls)
    ? Array.map(calls, (call, index) => called(index === 0 ? text : "", call, tools.get(call.name)))
    : [{ ...answered(text, grammar), call: null, rejection: null }]

const called = (before: string, call: Chat.ToolCall, tool: Tool | undefined): NativeTurn => {
  const { input: given, name } = call
  const input = tool === undefined ? null : inputOf(tool, given)
  const content = input !== null && Result.isSuccess(input) ? input.success : JSON.stringify(given)
  return {
    text: `${before}<${name}> ${content}</${name}>`,
    action: tool === undefined ? { kind: "invalid", content: "" } : { kind: tool.name, content },
    call,
    rejection: input !== null && Result.isFailure(input) ? input : null
  }
}

/** An instruction may ask for the tags of an answer; without them, all that follows the thoughts is the answer. */
const answered = (text: string, { parse }: Grammar): Pick<NativeTurn, "action" | "text"> => {
  const parsed = parse(text)
  if (parsed.kind === "answer") return { text, action: parsed }
  const rest = Thoughts.strip(text)
  const content = rest.trim()
  return content === ""
    ? { text, action: { kind: "invalid", content: "" } }
    : {
        text: `${text.slice(0, text.length - rest.length).trimEnd()}<answer> ${content}</answer>`,
        action: { kind: "answer", content }
      }
}
