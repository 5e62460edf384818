import * as ActionParser from "../ActionParser.ts"
import type { Agent, Conversation } from "../Agent.ts"
import type { Program } from "../Episode.ts"
import * as Observation from "../Observation.ts"
import * as Prompt from "../Prompt.ts"
import * as ToolLoop from "./ToolLoop.ts"

/**
 * The agent `graph`, for test time: the policy directs work on numbered thoughts, of which 0 is the question. `<split> 0</split>`
 * makes a thought of each part of another, `<solve> 1</solve>`, `<refine> 2</refine>` and `<merge> 2, 3</merge>` make a better one,
 * and `<score> 4</score>` says how good it is. The same policy does the work, each time under a prompt of its own with the
 * question and the named thoughts alone; only the directions are of the conversation.
 *
 * No formula of ARIES is published; the words of the work are inspo's.
 */
export const agent: Agent<"graph"> = {
  name: "graph",
  description: "directs work on a graph of thoughts, which it splits, solves, refines, merges and scores",
  source: "ARIES",
  tools: () => [],
  ownActions: ["split", "solve", "refine", "merge", "score"],
  asides: (turns) => turns - 1,
  maximumTokens: (limits, contextLength) =>
    ToolLoop.maximumTokens(limits, contextLength) + limits.maxTurns * contextLength,
  make: ({ config }) =>
    function* (conversation: Conversation): Program {
      const { maxTurns, texts } = config
      const { instruction, question: asked } = conversation.episode
      const question = asked.question.trim()
      conversation.open(Prompt.messages(instruction, asked, config, { request }))
      const thoughts = [question]
      for (;;) {
        const action = yield* conversation.turn(grammar)
        const ending = ToolLoop.over(conversation, action, maxTurns)
        if (ending !== null) return ending
        const named = [...new Set(action.content.match(/\d+/gu) ?? [])].map((id) => thoughts[Number(id)])
        if (action.kind === "invalid") yield* conversation.show(texts.invalidAction)
        else if (named.length === 0 || named.includes(undefined))
          yield* conversation.show(Observation.rejected(action.kind, "Name the numbers of thoughts."))
        else {
          const content = `Question: ${question}${conversation.excerpt(named.join("\n"))} ${work.get(action.kind) ?? ""}`
          const written = yield* conversation.aside(action.kind, [{ role: "user", content }], ToolLoop.answers.stop)
          const made = (written ?? "")
            .split(action.kind === "split" ? "\n" : separatesNothing)
            .map(ActionParser.withoutTags)
          if (action.kind === "score") yield* conversation.show(made.join(" "))
          else {
            const first = thoughts.length
            thoughts.push(...made.filter((text) => text !== ""))
            yield* conversation.show(
              thoughts
                .slice(first)
                .map((text, at) => `${first + at}: ${text}`)
                .join("\n")
            )
          }
        }
      }
    }
}

/** What the policy may direct. */
export const request =
  "The question is thought 0. <split> 0</split>, <solve> 1</solve>, <refine> 1</refine>, <merge> 1, 2</merge> and <score> 1</score> work on thoughts."

const work: ReadonlyMap<string, string> = new Map([
  ["split", "Split this into smaller questions, one a line."],
  ["solve", "Solve this step by step."],
  ["refine", "Write this again without its errors."],
  ["merge", "Write one answer from these."],
  ["score", "How good is this, from 0 to 10? Write the number alone."]
])

const separatesNothing = /(?!)/u

const grammar = ActionParser.grammar([...work.keys()])
