import { Search } from "@inspo/retrieval"
import { Reward } from "@inspo/reward"
import { Array, Effect } from "effect"
import type { Agent, Environment } from "../Agent.ts"
import * as Agents from "../agents/Agents.ts"
import * as Observation from "../Observation.ts"
import type { RolloutConfig } from "../RolloutConfig.ts"
import { RolloutError } from "../Episode.ts"
import * as Tool from "../Tool.ts"
import { calculator, search } from "../tools/BuiltInTools.ts"
import * as ToolCalls from "./ToolCalls.ts"

/** `tools` are added to the built-in ones (see `builtInTools`); `agent` replaces the one that the config names. */
export interface LayerOptions {
  readonly tools?: ReadonlyArray<Tool.Tool>
  readonly agent?: Agent
}

/** What a rollout needs besides its policy. */
export interface Setup extends Environment {
  readonly agent: Agent
  readonly tools: ReadonlyMap<string, Tool.Tool>
  readonly call: (calls: ReadonlyArray<ToolCalls.Call>) => Effect.Effect<ToolCalls.Replies>
  readonly score: Reward.Interface["score"]
  readonly scoredTurns: RolloutConfig["scoredTurns"]
  /** The error of the config, if any. */
  readonly refusal: RolloutError | null
}

/** `envelope` counts the tokens of an empty observation. */
export const make = Effect.fnUntraced(function* (
  config: RolloutConfig,
  options: LayerOptions,
  envelope: number
): Effect.fn.Return<Setup, never, Search | Reward> {
  const reward = yield* Reward
  const agent = options.agent ?? Agents.fromConfig(config)
  const {
    passagesText = (passages) => Observation.passagesText(passages.slice(0, config.topK), config.texts),
    scoredTurns = config.scoredTurns,
    sharesCalls = true
  } = agent
  const searching = search((yield* Search).search, config.topK, passagesText)
  const tools = new Map([searching, calculator, ...(options.tools ?? [])].map((tool) => [tool.name, tool]))
  const callable = agent.tools(config)
  return {
    agent,
    config,
    tools,
    // Native calls come with the tools' definitions.
    toolTexts:
      agent.protocol === "tool-calls" ? "" : callable.flatMap((name) => tools.get(name)?.description ?? []).join(" "),
    call: ToolCalls.make(tools, {
      attempts: config.toolAttempts,
      timeoutSeconds: config.toolTimeoutSeconds,
      distinct: sharesCalls
    }),
    score: reward.score,
    scoredTurns,
    refusal: refused(config, envelope, callable, Array.fromIterable(tools.keys()))
  }
})

const refused = (
  { maxObservationTokens }: RolloutConfig,
  envelope: number,
  callable: ReadonlyArray<string>,
  known: ReadonlyArray<string>
): RolloutError | null => {
  if (maxObservationTokens < envelope)
    return new RolloutError({
      field: "maxObservationTokens",
      value: String(maxObservationTokens),
      expected: `at least ${envelope}, the tokens of an empty observation`,
      remedy: "raise it"
    })
  const unknown = callable.find((name) => !known.includes(name) || !Tool.isName(name))
  return unknown === undefined
    ? null
    : new RolloutError({
        field: "an entry of tools",
        value: JSON.stringify(unknown),
        expected: `one of ${known.join(", ")}`,
        remedy: "leave it out or add a tool of that name"
      })
}
