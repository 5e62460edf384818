import { Effect, Option } from "effect"
import { UsageError } from "../Failure.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { wrap } from "../terminal/Text.ts"
import { fork } from "./Fork.ts"
import { resume, type ResumeInput } from "./Resume.ts"

export interface ContinueInput extends ResumeInput {
  /** The last step that a branch shares with the run. */
  readonly at: Option.Option<number>
  /** The directory of the branch. */
  readonly out: Option.Option<string>
}

/** Continues a run; or, from a step on, a branch of it in a directory of its own, under any other settings. */
export const continueRun = Effect.fn("Branch.continueRun")(function* ({ at, out, ...input }: ContinueInput) {
  if (Option.isNone(at) && Option.isNone(out)) return yield* resume(input)
  if (Option.isNone(at) || Option.isNone(out))
    return yield* new UsageError({
      problem:
        "--at STEP and --out DIR go together: a branch leaves a run after a step and has a directory of its own. " +
        `Give ${Option.isNone(at) ? "--at, or leave --out away" : "--out, or leave --at away"} to continue ${input.directory}.`
    })
  const { events, records, runDir, trainedFrom } = yield* fork({
    directory: input.directory,
    at: at.value,
    set: input.set,
    out: out.value
  })
  const reporter = yield* Reporter.make(input)
  yield* reporter.lines(
    wrap(
      `${runDir} shares ${events} events and ${records} records of ${input.directory}, up to step ${at.value}.` +
        (trainedFrom === at.value
          ? ""
          : ` The last checkpoint that is kept is of step ${trainedFrom}; steps ${trainedFrom + 1} to ${at.value} are trained again ` +
            "on their recorded batches."),
      reporter.columns
    )
  )
  return yield* resume({ ...input, directory: runDir, set: [] })
})
