import type { Bootstrap } from "@inspo/statistics"
import { Effect, Option } from "effect"
import { commandFailure, usageError } from "../Failure.ts"
import { permissionsOf } from "../runDirectory/Permissions.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { compare } from "./Comparison.ts"
import { answer, type Asked, type EvalArm, evalArm, type Wanted } from "./EvalArm.ts"
import { type Answerer, encode, type Report, text } from "./Report.ts"
import { results } from "./Results.ts"

export interface EvaluateInput extends Wanted {
  readonly split: "test" | "validation" | "train" | "all"
  readonly questions: Option.Option<number>
  readonly seed: Option.Option<number>
  readonly resamples: number
  readonly against: Option.Option<string>
  readonly againstPolicy: Option.Option<"before" | "after">
  readonly againstInstruction: Option.Option<string>
  readonly againstAgent: Option.Option<string>
  readonly plan: boolean
}

/** Evaluates an agent on questions and, if one is given, a second agent on the same questions; no run is changed. */
export const evaluate = Effect.fn("Evaluate.evaluate")(function* (input: EvaluateInput) {
  yield* check(input)
  const left = yield* evalArm(input)
  const right = Option.match(opponent(input), { onNone: () => null, onSome: evalArm })
  const found = right === null ? null : yield* right
  const other = found === null ? null : onDataOf(left, found)
  const questions = yield* chosen(left, input)
  const seed = Option.getOrElse(input.seed, () => left.config.randomSeed)
  if (input.plan) return yield* plan(other === null ? [left] : [left, other], questions.length)
  const reporter = yield* Reporter.make()

  const options = { resamples: input.resamples, seed }
  const asked = { questions, passages: left.loaded.passages, seed, reporter }
  const first = yield* answered(left, asked, options)
  const second = other === null ? null : yield* answered(other, asked, options)
  const report: Report = {
    ...answerer(left),
    randomSeed: seed,
    resamples: input.resamples,
    ...first.found,
    against:
      other === null || second === null
        ? null
        : { ...answerer(other), ...second.found, comparison: compare(first.outcomes, second.outcomes, options) }
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

/** Shows who would answer, and what that would start and connect to. */
const plan = (sides: ReadonlyArray<EvalArm>, questions: number) => {
  const planned = sides.map((side) => ({
    ...answerer(side),
    would: permissionsOf(side.config, "eval").map(({ says }) => says)
  }))
  return Reporter.print({ questions, sides: planned }, () => [
    `${questions} questions for each side`,
    ...planned.flatMap(({ agent, instruction, policy, runDir, would }) => [
      "",
      `${runDir ?? "the shipped policy"}, ${policy} training, agent ${agent}: ${instruction}`,
      ...would.map((one) => `  would ${one}`)
    ])
  ])
}

/** Fails when every trajectory failed. */
const answered = Effect.fnUntraced(function* (side: EvalArm, asked: Asked, options: Bootstrap.Options) {
  const outcomes = yield* answer(side, asked)
  const found = results(outcomes, options)
  if (found.n === 0)
    return yield* commandFailure(
      `All ${found.failed} trajectories of ${side.runDir ?? "the shipped policy"} failed, the first one because ` +
        `${outcomes[0]?.failure ?? "a tool or the reward returned no answer"}. Check retrieval, reward and agent.`
    )
  return { outcomes, found }
})

const answerer = ({ config, instruction, policy, runDir, step }: EvalArm): Answerer => ({
  runDir,
  policy,
  step,
  agent: config.rollout.agent.name,
  instruction: instruction.text
})
