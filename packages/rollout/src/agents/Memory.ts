import type { Agent, Conversation } from "../Agent.ts"
import * as ActionParser from "../ActionParser.ts"
import type { Program } from "../Episode.ts"
import * as Observation from "../Observation.ts"
import * as Prompt from "../Prompt.ts"
import * as ToolLoop from "./ToolLoop.ts"

/**
 * The agent `memory`: the loop of `search-r1`, in which the policy edits what it remembers. Results are numbered, and
 * `<prune> 1, 3: summary</prune>` replaces the calls and results of these numbers by the summary, which has a number too.
 * Then the policy sees the question, the summaries, and the calls and results that are left; its thoughts before are gone. A
 * number is never used again, and unknown ones are refused. Each prune costs a turn and begins a segment, so that each token is
 * trained in the context it was sampled in. Without a prune it is `search-r1` on numbered results.
 *
 * The paper trains with 35 turns and 16 segments of an update; here all segments are trained.
 */
export const agent: Agent<"memory"> = {
  name: "memory",
  description: "is `search-r1` whose policy replaces results it needs no more by a summary",
  source: "Memory as Action, arXiv 2510.12635",
  tools: (config) => config.tools,
  ownActions: ["prune"],
  restarts: true,
  maximumTokens: (limits, contextLength) =>
    ToolLoop.maximumTokens(limits) + limits.maxTurns * Math.min(limits.maxPromptTokens, contextLength),
  make: ({ config, toolTexts }) => {
    const { maxTurns } = config
    const prunes = maxTurns > 0
    const grammar = ActionParser.grammar([...config.tools, ...(prunes ? ["prune"] : [])])
    const described = { tools: toolTexts, request: prunes ? request : "" }
    return function* (conversation: Conversation): Program {
      const { episode, turns } = conversation
      const prompt = (context?: string) =>
        Prompt.messages(episode.instruction, episode.question, config, { ...described, context })
      conversation.open(prompt())
      let memory: Memory = []
      let id = 0
      /** The memory after a prune; null if it names other numbers, or leaves more than a prompt may have. */
      const after = ({ excerpt, spare }: Conversation, content: string): Memory | null => {
        const { ids, summary } = read(content)
        const kept = memory.filter(([id]) => !ids.includes(id))
        const pruned: Memory = [...kept, [id + 1, excerpt(`${id + 1}: ${summary}`)]]
        const isKnown = ids.length > 0 && kept.length + ids.length === memory.length
        return isKnown && spare(prompt(written(pruned))) > 0 ? pruned : null
      }
      for (;;) {
        const action = yield* conversation.turn(grammar)
        const { content, kind } = action
        const pruned = kind === "prune" && turns.length <= maxTurns ? after(conversation, content) : null
        if (pruned !== null) {
          id++
          memory = pruned
          conversation.restart(prompt(written(memory)), memory.at(-1)?.[1])
          continue
        }
        const ending = ToolLoop.over(conversation, action, maxTurns)
        if (ending !== null) return ending
        if (kind === "invalid") yield* conversation.show(config.texts.invalidAction)
        else if (kind === "prune") yield* conversation.show(Observation.rejected(kind, expected))
        else {
          yield* conversation.show(`${++id}: ${yield* ToolLoop.consult(conversation, action)}`)
          const call = `<${kind}> ${Observation.neutralise(content)}</${kind}>`
          memory = [...memory, [id, call + (turns.at(-1)?.observation ?? "")]]
        }
      }
    }
  }
}

/** What follows the tools. */
export const request = "<prune> 1, 3: summary</prune> puts your summary in the place of the results 1 and 3."

const expected = "Name the numbers of results that you see, then a colon and a summary that fits."

/** What the policy sees of the episode, in order. */
type Memory = ReadonlyArray<readonly [id: number, text: string]>

const written = (memory: Memory): string => memory.map(([, text]) => text).join("")

/** The numbers before the colon, each once, and the summary after it; no numbers if it is not written so. */
const read = (content: string): { readonly ids: ReadonlyArray<number>; readonly summary: string } => {
  const [, numbers = "", summary = ""] = /^((?:\d+[\s,]*)+):([^]*)$/u.exec(content) ?? []
  return { ids: [...new Set((numbers.match(/\d+/gu) ?? []).map(Number))], summary: summary.trim() }
}
