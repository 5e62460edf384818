import type { Question } from "@inspo/domain"
import { Search } from "@inspo/retrieval"
import { Reward } from "@inspo/reward"
import { Array, Effect, Result, Schedule } from "effect"
import type { Agent, Environment } from "../Agent.ts"
import * as Agents from "../agents/Agents.ts"
import * as Observation from "../Observation.ts"
import type { RolloutConfig, RolloutOptions } from "../RolloutConfig.ts"
import { RolloutError } from "../Episode.ts"
import * as Tool from "../Tool.ts"
import { evaluate } from "../tools/Arithmetic.ts"

/** `tools` are added to the built-in ones (see `builtInTools`); `agent` replaces the one that the config names. */
export interface LayerOptions {
  readonly tools?: ReadonlyArray<Tool.Tool>
  readonly agent?: Agent
}

/** What a rollout needs besides its policy. */
export interface Setup extends Environment {
  readonly agent: Agent
  readonly tools: ReadonlyMap<string, Tool.Tool>
  readonly call: (calls: ReadonlyArray<Call>) => Effect.Effect<Replies>
  readonly score: Reward.Interface["score"]
  readonly scoredTurns: RolloutConfig["scoredTurns"]
  /** The error of the config, if any. */
  readonly refusal: RolloutError | null
}

/** `envelope` counts the tokens of an empty observation. */
export const make = Effect.fnUntraced(function* (
  config: Required<RolloutOptions>,
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
    call: calling(tools, {
      attempts: config.toolAttempts,
      timeoutSeconds: config.toolTimeoutSeconds,
      distinct: sharesCalls
    }),
    score: reward.score,
    scoredTurns,
    refusal: refused(config, envelope, callable, Array.fromIterable(tools.keys()))
  }
})

/** The search tool: the passages that a retriever finds for each query, at most `topK`, as `show` writes them. */
export const search = (
  search: Search.Interface["search"],
  topK: number,
  show: (passages: ReadonlyArray<Question.Passage>) => string
): Tool.Tool => ({
  name: "search",
  description: "<search> query</search> looks a query up and shows the passages found.",
  run: (queries) =>
    search(queries, topK).pipe(
      Effect.mapError((cause) => new Tool.ToolFailure({ tool: "search", reason: cause.message, cause })),
      Effect.map(Array.map((passages) => Result.succeed(show(passages.map(({ passage }) => passage)))))
    )
})

/** The calculator tool: `<calculate> 3 * (2 + 4)</calculate>` is answered by `18`. */
export const calculator: Tool.Tool = Tool.each(
  "calculate",
  "<calculate> 3 * (2 + 4)</calculate> works out an expression of numbers, + - * / and brackets.",
  (input) => Effect.fromResult(Result.mapError(evaluate(input), (reason) => new Tool.ToolRejection({ reason })))
)

/** The names of these tools. */
export const builtInTools: ReadonlyArray<string> = ["search", calculator.name]

const refused = (
  { maxObservationTokens }: Pick<RolloutConfig, "maxObservationTokens">,
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

interface Call {
  readonly tool: string
  readonly input: string
}

/** How often one input is tried, the time limit of a try, and whether equal inputs of a round share one call (`distinct`). */
interface CallOptions {
  readonly attempts: number
  readonly timeoutSeconds: number
  readonly distinct: boolean
}

/** The result of each call, in their order. */
export type Replies = ReadonlyArray<Result.Result<Tool.Reply, Tool.ToolFailure>>

/** How many inputs of a failed call are retried at once. */
const repeatedAtOnce = 16

/** Makes the calls of one round. A shared call that failed is retried input by input: no input affects the reply to another. */
const calling = (tools: ReadonlyMap<string, Tool.Tool>, options: CallOptions) => {
  const attempt = (
    tool: Tool.Tool,
    inputs: ReadonlyArray<string>
  ): Effect.Effect<ReadonlyArray<Tool.Reply>, Tool.ToolFailure> =>
    Effect.suspend(() => tool.run(inputs)).pipe(
      Effect.catchDefect((cause) =>
        Effect.die(new Error(`tool ${tool.name}: threw an exception on ${quoted(inputs)}`, { cause }))
      ),
      Effect.timeoutOrElse({
        duration: `${options.timeoutSeconds} seconds`,
        orElse: () => fail(tool.name, `no reply within ${options.timeoutSeconds} s`)
      }),
      Effect.filterOrElse(
        (replies) => replies.length === inputs.length,
        (replies) => fail(tool.name, `${replies.length} replies to ${inputs.length} inputs`)
      )
    )

  const alone = (tool: Tool.Tool, input: string): Effect.Effect<Result.Result<Tool.Reply, Tool.ToolFailure>> =>
    attempt(tool, [input]).pipe(
      Effect.retry({ times: options.attempts - 1, schedule: Schedule.exponential("200 millis") }),
      Effect.flatMap(([reply]) => (reply === undefined ? fail(tool.name, "no reply") : Effect.succeed(reply))),
      Effect.tapError((failure) => Effect.logWarning(failure.message)),
      Effect.result
    )

  const together = (tool: Tool.Tool, inputs: ReadonlyArray<string>): Effect.Effect<Replies> => {
    const oneByOne = Effect.forEach(inputs, (input) => alone(tool, input), { concurrency: repeatedAtOnce })
    return inputs.length === 1
      ? oneByOne
      : attempt(tool, inputs).pipe(
          Effect.map(Array.map(succeed)),
          Effect.catch(() => oneByOne)
        )
  }

  const ask = (tool: Tool.Tool, inputs: ReadonlyArray<string>): Effect.Effect<Replies> => {
    if (!options.distinct) return together(tool, inputs)
    const distinct = Array.dedupe(inputs)
    return Effect.map(together(tool, distinct), (replies) => {
      const byInput = new Map(Array.zip(distinct, replies))
      return inputs.map((input) => byInput.get(input) ?? unanswered(tool.name))
    })
  }

  return Effect.fnUntraced(function* (calls: ReadonlyArray<Call>): Effect.fn.Return<Replies> {
    const replies = new Map<Call, Result.Result<Tool.Reply, Tool.ToolFailure>>()
    for (const [name, own] of Map.groupBy(calls, ({ tool }) => tool)) {
      const tool = tools.get(name)
      if (tool === undefined) continue
      const inputs = own.map(({ input }) => input)
      for (const [call, reply] of Array.zip(own, yield* ask(tool, inputs))) replies.set(call, reply)
    }
    return calls.map((call) => replies.get(call) ?? unanswered(call.tool))
  })
}

const quoted = (inputs: ReadonlyArray<string>): string =>
  `${inputs.length === 1 ? "the input" : `one of ${inputs.length} inputs:`} ${JSON.stringify(inputs).slice(1, -1)}`

const succeed = (reply: Tool.Reply): Result.Result<Tool.Reply, Tool.ToolFailure> => Result.succeed(reply)

const fail = (tool: string, reason: string): Effect.Effect<never, Tool.ToolFailure> =>
  Effect.fail(new Tool.ToolFailure({ tool, reason }))

const unanswered = (tool: string): Result.Result<never, Tool.ToolFailure> =>
  Result.fail(new Tool.ToolFailure({ tool, reason: "there is no such tool" }))
