import { Array, Effect, Result, Schedule } from "effect"
import { type Reply, type Tool, ToolFailure } from "../Tool.ts"

export interface Call {
  readonly tool: string
  readonly input: string
}

/**
 * `attempts`: how often one input is tried; `timeoutSeconds`: the time limit of an attempt; `distinct`: whether
 * equal inputs of a round share one call.
 */
export interface Options {
  readonly attempts: number
  readonly timeoutSeconds: number
  readonly distinct: boolean
}

/** The result of each call, in their order. */
export type Replies = ReadonlyArray<Result.Result<Reply, ToolFailure>>

/** How many inputs of a failed call are retried at once. */
const repeatedAtOnce = 16

/**
 * Makes the calls of one round, those of a tool together. A failed shared call is retried input by input, so that no
 * input affects the reply to another.
 */
export const make = (tools: ReadonlyMap<string, Tool>, options: Options) => {
  const attempt = (tool: Tool, inputs: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Reply>, ToolFailure> =>
    Effect.suspend(() => tool.run(inputs)).pipe(
      Effect.catchDefect((cause) =>
        Effect.die(new Error(`tool ${tool.name}: threw an exception on ${shown(inputs)}`, { cause }))
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

  const alone = (tool: Tool, input: string): Effect.Effect<Result.Result<Reply, ToolFailure>> =>
    attempt(tool, [input]).pipe(
      Effect.retry({ times: options.attempts - 1, schedule: Schedule.exponential("200 millis") }),
      Effect.flatMap(([reply]) => (reply === undefined ? fail(tool.name, "no reply") : Effect.succeed(reply))),
      Effect.tapError((failure) => Effect.logWarning(failure.message)),
      Effect.result
    )

  const together = (tool: Tool, inputs: ReadonlyArray<string>): Effect.Effect<Replies> => {
    const oneByOne = Effect.forEach(inputs, (input) => alone(tool, input), { concurrency: repeatedAtOnce })
    return inputs.length === 1
      ? oneByOne
      : attempt(tool, inputs).pipe(
          Effect.map(Array.map(succeed)),
          Effect.catch(() => oneByOne)
        )
  }

  const ask = (tool: Tool, inputs: ReadonlyArray<string>): Effect.Effect<Replies> => {
    if (!options.distinct) return together(tool, inputs)
    const distinct = Array.dedupe(inputs)
    return Effect.map(together(tool, distinct), (replies) => {
      const byInput = new Map(Array.zip(distinct, replies))
      return inputs.map((input) => byInput.get(input) ?? unanswered(tool.name))
    })
  }

  return Effect.fnUntraced(function* (calls: ReadonlyArray<Call>): Effect.fn.Return<Replies> {
    const replies = new Map<Call, Result.Result<Reply, ToolFailure>>()
    for (const [name, own] of Map.groupBy(calls, ({ tool }) => tool)) {
      const tool = tools.get(name)
      if (tool === undefined) continue
      const inputs = own.map(({ input }) => input)
      for (const [call, reply] of Array.zip(own, yield* ask(tool, inputs))) replies.set(call, reply)
    }
    return calls.map((call) => replies.get(call) ?? unanswered(call.tool))
  })
}

const shown = (inputs: ReadonlyArray<string>): string =>
  `${inputs.length === 1 ? "the input" : `one of ${inputs.length} inputs:`} ${JSON.stringify(inputs).slice(1, -1)}`

const succeed = (reply: Reply): Result.Result<Reply, ToolFailure> => Result.succeed(reply)

const fail = (tool: string, reason: string): Effect.Effect<never, ToolFailure> =>
  Effect.fail(new ToolFailure({ tool, reason }))

const unanswered = (tool: string): Result.Result<never, ToolFailure> =>
  Result.fail(new ToolFailure({ tool, reason: "there is no such tool" }))
