import { Array as Arr, Duration, Effect, Exit, Layer, Request, RequestResolver, Schema } from "effect"
import { ChildProcessSpawner } from "effect/process"
import { PlainText } from "@inspo/domain"
import { ChildProgram } from "@inspo/outside"
import type { ScoredEpisode } from "./ScoredEpisode.ts"
import { Reward } from "./Reward.ts"
import { make, RewardError, type RewardFunction } from "./RewardFunction.ts"
import type { ProgramOptions } from "./RewardKind.ts"
import { extract } from "./Scope.ts"

/** One attempt as the program reads it: a line of JSON. `id` counts the lines of a batch from 0. */
export const Line = Schema.Struct({
  id: Schema.Int,
  question: Schema.String,
  golden_answers: Schema.Array(Schema.String),
  prompt: Schema.String,
  response: Schema.String,
  answer: Schema.NullOr(Schema.String)
})
export interface Line extends Schema.Schema.Type<typeof Line> {}

/**
 * A reward computed by a program in any language. Attempts scored at the same time make one batch: the program is
 * started, reads one {@link Line} per attempt from standard input, writes one number in [0, 1] per line to standard
 * output in the same order, and ends with exit code 0. What it writes to standard error is reported when it fails.
 *
 * A program that cannot be started, fails, takes too long, writes another number of lines or more than 1 KiB per attempt (64 KiB at
 * the least) fails its whole batch, and is ended; a line that is not a number in [0, 1] fails its attempt.
 *
 * @example
 * ```ts
 * import * as CommandReward from "@inspo/reward/CommandReward"
 *
 * const layer = CommandReward.layer({ command: ["python3", "score.py"], timeout: "1 minute", scope: "response" })
 * ```
 */
export const layer = (options: ProgramOptions): Layer.Layer<Reward, never, ChildProcessSpawner.ChildProcessSpawner> =>
  Layer.effect(
    Reward,
    Effect.map(rewardFunction(options), ({ score }) => Reward.of({ score }))
  )

/** The reward function of {@link layer}. */
export const rewardFunction = (
  options: ProgramOptions
): Effect.Effect<RewardFunction, never, ChildProcessSpawner.ChildProcessSpawner> =>
  Effect.map(ChildProcessSpawner.ChildProcessSpawner, (spawner) => {
    const name = options.name ?? "command"
    const resolver = RequestResolver.make<Score>((entries) =>
      Effect.map(
        runBatch(
          name,
          options,
          spawner,
          entries.map(({ request }) => request)
        ),
        (output) => Arr.zip(entries, output).forEach(([entry, line]) => entry.completeUnsafe(line))
      )
    )
    return make(name, (attempt) => {
      const answer = extract(attempt, options.scope)
      return Effect.map(Effect.request(new Score({ attempt, answer }), resolver), (reward) => ({ answer, reward }))
    })
  })

class Score extends Request.Class<
  { readonly attempt: ScoredEpisode; readonly answer: string | null },
  number,
  RewardError
> {}

/** The reward of each attempt of a batch, or what is wrong with its line. */
const runBatch = Effect.fn("CommandReward.runBatch")(function* (
  name: string,
  { command, timeout }: ProgramOptions,
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  batch: ReadonlyArray<Score>
) {
  const failed = (problem: string, cause?: unknown) =>
    new RewardError({
      reward: name,
      reason: `${command.join(" ")} ${problem}`,
      ...(cause === undefined ? {} : { cause })
    })
  const most = Math.max(leastBytes, batch.length * bytesPerAttempt)
  const { code, output, trouble } = yield* ChildProgram.run({
    command,
    input: batch.map((score, id) => PlainText.jsonLine(toLine(score, id))),
    timeout,
    most
  }).pipe(
    Effect.provideService(ChildProcessSpawner.ChildProcessSpawner, spawner),
    Effect.mapError(({ cause, reason, why }) => {
      if (why === "cannot be run") return failed(reason, cause)
      return failed(
        why === "too long"
          ? `${reason} for ${batch.length} attempts, expected one number in [0, 1] for each; write anything else to standard error`
          : `was not done with ${batch.length} attempts after ${Duration.format(Duration.fromInputUnsafe(timeout))}; raise the timeout`
      )
    })
  )
  const lines = output === "" ? [] : output.replace(/\r?\n$/u, "").split(/\r?\n/u)
  if (code !== 0)
    return yield* failed(
      `ended with exit code ${code}, expected 0${trouble === "" ? "" : `: ${ChildProgram.lastError(trouble).slice(0, 1000)}`}`,
      trouble === "" ? undefined : trouble
    )
  if (lines.length !== batch.length)
    return yield* failed(
      `wrote ${lines.length} lines for ${batch.length} attempts, expected one number in [0, 1] for each`
    )
  return lines.map((line, index) => {
    const reward = decodeReward(line)
    return reward._tag === "Some"
      ? Exit.succeed(reward.value)
      : Exit.fail(failed(`wrote ${PlainText.json(line, 200)} on line ${index + 1}, expected a number in [0, 1]`))
  })
})

/** Bytes that a program may write to standard output: for each attempt, and for the smallest batch. */
const bytesPerAttempt = 1024
const leastBytes = 64 * 1024

const toLine = ({ answer, attempt }: Score, id: number): Line => ({
  id,
  question: attempt.question.question,
  golden_answers: attempt.question.goldenAnswers,
  prompt: attempt.prompt,
  response: attempt.response,
  answer
})

const decodeReward = Schema.decodeOption(
  Schema.fromJsonString(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))
)
