import { Schema } from "effect"
import * as ActionParser from "../ActionParser.ts"
import type { AgentKind } from "../Agent.ts"
import * as Prompt from "../Prompt.ts"
import * as ToolLoop from "./ToolLoop.ts"

const published: ReadonlyArray<number> = [512, 1024, 2048, 2560]

/**
 * The agent `budgets`: the loop of `search-r1`, whose rollouts of a group each have one of some budgets of tokens in their prompt, in turn.
 * The words are the end of the prompt, so no token of them is trained. Questions outside a group, as in a validation, get no
 * budget, and are those of `search-r1`. Train it with `reward.shaping: budget` and `train.advantage: budgeted`; a group has equal
 * shares if its size is a multiple of the budgets.
 */
export const agent: AgentKind<"budgets", { budgets: ReadonlyArray<number> }> = {
  name: "budgets",
  description: "is `search-r1` whose rollouts of a group have different budgets of tokens in their prompts",
  source: "HBPO, arXiv 2507.15844",
  certainty: "code",
  defaults: { budgets: published },
  parameters: { budgets: Schema.NonEmptyArray(Schema.Int.check(Schema.isGreaterThan(0))) },
  of: ({ budgets }) => ({
    name: "budgets",
    promptsDiffer: true,
    supplies: "budgets that are announced to rollouts",
    tools: (config) => config.tools,
    maximumTokens: ToolLoop.maximumTokens,
    make: (environment) => {
      const { config, toolTexts: tools } = environment
      const grammar = ActionParser.grammar(config.tools)
      const loop = ToolLoop.loop(environment, { maxTurns: config.maxTurns, grammar: () => grammar })
      return (conversation) => {
        const { instruction, member, question } = conversation.episode
        const budget = member === undefined ? undefined : budgets[member % budgets.length]
        if (budget !== undefined) {
          conversation.announce(budget)
          const words = `Answer within about ${budget} tokens.`
          conversation.open(Prompt.added(Prompt.messages(instruction, question, config, { tools }), words))
        }
        return loop(conversation)
      }
    }
  })
}
