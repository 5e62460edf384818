import type { AgentName } from "@inspo/rollout"
import { Effect, Option } from "effect"
import { type CommandFailure, commandFailure, usageError } from "../Failure.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { compare } from "./Comparison.ts"
import { type Answerer, encode, type Report, text } from "./Report.ts"
import { type Results, results } from "./Results.ts"
import { answer, type EvalArm, evalArm, type Wanted } from "./EvalArm.ts"

export interface EvaluateInput extends Wanted {
  readonly split: "test" | "validation" | "train" | "all"
  readonly questions: Option.Option<number>
  readonly seed: Option.Option<number>
  readonly resamples: number
  readonly against: Option.Option<string>
  readonly againstPolicy: Option.Option<"before" | "after">
  readonly againstInstruction: Option.Option<string>
  readonly againstAgent: Option.Option<AgentName>
}

/** Evaluates an agent on questions and, if one is given, a second agent on the same questions; no run is changed. */
export const evaluate = Effect.fn("Evaluate.evaluate")(function* (input: EvaluateInput) {
  yield* check(input)
  const left = yield* evalArm(input)
  const right = Option.match(opponent(input), { onNone: () => null, onSome: evalArm })
  const other = right === null ? null : yield* right
  const questions = yield* chosen(left, input)
  const seed = Option.getOrElse(input.seed, () => left.config.randomSeed)
  const reporter = yield* Reporter.make()

  const options = { resamples: input.resamples, seed }
  const asked = { questions, passages: left.loaded.passages, seed, reporter }
  const outcomes = yield* answer(left, asked)
  const found = yield* informative(results(outcomes, options), left)
  const others = other === null ? null : yield* answer(onDataOf(left, other), asked)
  const report: Report = {
    ...answerer(left),
    randomSeed: seed,
    resamples: input.resamples,
    ...found,
    against:
      other === null || others === null
        ? null
        : {
            ...answerer(other),
            ...(yield* informative(results(others, options), other)),
            comparison: compare(outcomes, others, options)
          }
  }
  return yield* Reporter.print(encode(report), (columns) => text(report, columns))
})

const check = Effect.fnUntraced(function* ({ againstInstruction, instruction, questions, resamples }: EvaluateInput) {
  if (Option.exists(questions, (count) => count < 1))
    return yield* usageError("--questions is below 1, expected a positive number of questions.")
  if (resamples < 100) return yield* usageError(`--resamples is ${resamples}, expected at least 100.`)
  for (const [flag, value] of [
    ["--instruction", instruction],
    ["--against-instruction", againstInstruction]
  ] as const)
    if (Option.exists(value, (given) => given.trim() === ""))
      return yield* usageError(`${flag} is empty, expected the text of an instruction.`)
})

/** The second side: another run with its own best instruction, or the first side with what `--against-…` changes. */
const opponent = (input: EvaluateInput): Option.Option<Wanted> => {
  const { against, againstAgent, againstInstruction, againstPolicy } = input
  if ([against, againstAgent, againstInstruction, againstPolicy].every(Option.isNone)) return Option.none()
  return Option.some({
    ...input,
    directory: Option.orElse(against, () => input.directory),
    policy: Option.getOrElse(againstPolicy, () => input.policy),
    instruction: Option.orElse(againstInstruction, () => (Option.isSome(against) ? Option.none() : input.instruction)),
    agent: Option.orElse(againstAgent, () => input.agent)
  })
}

/** A side with the questions, the passages and the search of another. */
const onDataOf = ({ config, loaded }: EvalArm, other: EvalArm): EvalArm => ({
  ...other,
  config: {
    ...other.config,
    data: config.data,
    retrieval: config.retrieval,
    // A key goes only where the directory that names it sends it.
    keys: { ...other.config.keys, retrieval: config.keys.retrieval }
  },
  loaded
})

const chosen = Effect.fnUntraced(function* ({ loaded }: EvalArm, { questions, split }: EvaluateInput) {
  const { test, train, validation } = loaded.data
  const all = { test, validation, train, all: [...train, ...validation, ...test] }[split]
  if (all.length === 0)
    return yield* usageError(
      `--split is ${split}, but ${loaded.description} has no such questions. Choose another split, such as all.`
    )
  return all.slice(
    0,
    Option.getOrElse(questions, () => all.length)
  )
})

/** Fails when every trajectory failed. */
const informative = (found: Results, { runDir }: EvalArm): Effect.Effect<Results, CommandFailure> =>
  found.n > 0
    ? Effect.succeed(found)
    : Effect.fail(
        commandFailure(
          `All ${found.failed} trajectories of ${runDir ?? "the shipped policy"} failed: a tool or the reward returned ` +
            "no answer. Check retrieval and reward in the config."
        )
      )

const answerer = ({ config, instruction, policy, runDir, step }: EvalArm): Answerer => ({
  runDir,
  policy,
  step,
  agent: config.rollout.agent.name,
  instruction: instruction.text
})
