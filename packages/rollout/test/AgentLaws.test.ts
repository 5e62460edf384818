import { assert, describe, it } from "@effect/vitest"
import { Law } from "@inspo/domain/testing"
import { ActionParser, type Agent, AgentName, Agents, ToolLoop } from "@inspo/rollout"
import { AgentLaws } from "@inspo/rollout/testing"
import { Effect } from "effect"
import { choice } from "./support/Agents.ts"

const further = [
  { name: "delethink", carry: 0.9, chunks: 3, head: 4 },
  { name: "delethink", carry: 0, chunks: 2, head: 0 }
] as const

// An engine has no tool calls; ChatRollout.test.ts compares that agent with the one that calls in tags. An agent outside has the laws of
// the gateway.
const onEngines = [...AgentName.literals.map(choice), ...further].filter((agent) => {
  const { outside, protocol } = Agents.fromConfig({ agent })
  return protocol !== "tool-calls" && outside === undefined
})

describe.each(onEngines)("the agent %j", (agent) => {
  for (const { check, name } of AgentLaws.laws(Agents.fromConfig({ agent }), { config: { agent } }))
    it.effect(name, () => check)
})

const agent: Agent = { name: "named", tools: ToolLoop.agent.tools, make: ToolLoop.agent.make }
const grammar = ActionParser.grammar(["search"])

/** For each law an agent that breaks it, and no other. */
const bugs: Readonly<Record<string, Agent>> = {
  "an episode ends, and nothing is thrown": {
    ...agent,
    make: (environment) => {
      const loop = ToolLoop.loop(environment, { maxTurns: 2, grammar: () => grammar })
      return function* (conversation) {
        const { content, kind } = yield* conversation.turn(grammar)
        // Searches until it finds something.
        if (kind === "search") for (;;) yield* conversation.call("search", content)
        return yield* loop(conversation)
      }
    }
  },
  "an episode takes no more tokens than the agent says": { ...agent, maximumTokens: () => 100 },
  "only tools that the agent names are called": { ...agent, tools: () => [] },
  "an episode is the same each time, alone and among others": {
    ...agent,
    make: (environment) => {
      let started = 0
      return (conversation) => {
        const maxTurns = started++ === 0 ? 1 : 0
        return ToolLoop.loop(environment, { maxTurns, grammar: () => grammar })(conversation)
      }
    }
  },
  "an answered episode ends with an answer": {
    ...agent,
    make: (environment) => {
      const loop = ToolLoop.loop(environment, { maxTurns: 2, grammar: () => grammar })
      return function* (conversation) {
        const ending = yield* loop(conversation)
        return ending === "turns-exhausted" ? "answered" : ending
      }
    }
  },
  "an action of the agent's own is named in the prompt of its segment": {
    ...agent,
    ownActions: ["prune"],
    make: () =>
      function* (conversation) {
        const { kind } = yield* conversation.turn(ActionParser.grammar(["prune"]))
        return kind === "answer" ? "answered" : "turns-exhausted"
      }
  },
  "each token is in the context that the policy sampled it in, once": {
    ...agent,
    make: (environment) => {
      const loop = ToolLoop.loop(environment, { maxTurns: 2, grammar: () => grammar })
      return function* (conversation) {
        const program = loop(conversation)
        let next = program.next()
        while (next.done !== true) {
          const step = next.value
          // The policy does not see the first token.
          const asked =
            step._tag === "Sample"
              ? { ...step, request: { ...step.request, prompt: step.request.prompt.slice(1) } }
              : step
          next = program.next(yield asked)
        }
        return next.value
      }
    }
  },
  "segments are within the limits, begin with a turn, and are stored and counted as they are": {
    ...agent,
    make: (environment) => {
      Object.assign(environment.config, { maxPromptTokens: Infinity })
      return function* (conversation) {
        conversation.open([{ role: "user", content: "long ".repeat(45) }])
        yield* conversation.turn(grammar)
        return "turns-exhausted"
      }
    }
  }
}

/** Rewrites its context after some turns, also without room for another one. */
const forgetful: Agent = {
  ...agent,
  restarts: true,
  maximumTokens: ({ maxPromptTokens, maxResponseTokens, maxTurns }) =>
    (maxTurns + 1) * (maxPromptTokens + maxResponseTokens),
  make: ({ config: { maxTurns } }) =>
    function* (conversation) {
      while (conversation.turns.length <= maxTurns) {
        if ((yield* conversation.turn(grammar)).kind === "answer") return "answered"
        if (conversation.turns.length % 3 === 2) yield* conversation.show("Again?")
        else {
          const again = { role: "user", content: "Again? ".repeat(conversation.turns.length * 8) } as const
          conversation.restart([again, again], "Again?")
          conversation.restart([again])
        }
      }
      return "turns-exhausted"
    }
}

describe("an agent that rewrites its context", () => {
  for (const { check, name } of AgentLaws.laws(forgetful)) it.effect(name, () => check)
})

describe("the laws of an agent find a planted bug", { tags: "deep" }, () => {
  it.effect.each(AgentLaws.laws(agent).map(({ name }) => name))("%s", (name) =>
    Effect.gen(function* () {
      const bug = bugs[name] ?? assert.fail("no bug is planted")
      const found = (yield* Law.broken(AgentLaws.laws(bug, { runs: 500 }))).map(({ law }) => law)
      // Without an end no episode shows anything else.
      assert.deepStrictEqual(name === "an episode ends, and nothing is thrown" ? found.slice(0, 1) : found, [name])
    })
  )
})
