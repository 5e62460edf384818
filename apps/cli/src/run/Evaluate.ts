import { fold, makeSetting } from "@inspo/coevolution"
import { Group, Instruction, RandomStream, Trajectory } from "@inspo/domain"
import { Engine } from "@inspo/engine"
import { Rollout } from "@inspo/rollout"
import { Array as Arr, Console, Effect, Option } from "effect"
import { loadData } from "../config/Data.ts"
import { CommandFailure, UsageError } from "../Failure.ts"
import { layerServices } from "../layers.ts"
import { score } from "../report/Summary.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { readRun } from "../runDirectory/Read.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { paragraph, share } from "../terminal/Text.ts"

export interface EvaluateInput {
  readonly directory: string
  readonly instruction: Option.Option<string>
  readonly policy: "before" | "after"
  readonly questions: Option.Option<number>
  readonly json: boolean
}

/** Answers test questions with a checkpoint of a run under an instruction; the run is not changed. */
export const evaluate = Effect.fn("Evaluate.evaluate")(function* (input: EvaluateInput) {
  const { directory, policy } = input
  const asked = Option.getOrNull(input.questions)
  if (asked !== null && asked < 1)
    return yield* new UsageError({ problem: `--questions is ${asked}, expected a positive number of test questions.` })
  if (Option.contains(input.instruction, ""))
    return yield* new UsageError({ problem: "--instruction is empty, expected the text of an instruction." })

  const { config, events } = yield* readRun(directory)
  const loaded = yield* loadData(config)
  const setting = makeSetting(config, loaded.data)
  const state = fold(setting, events)
  const saved = policy === "before" ? Arr.head(state.checkpoints) : Arr.last(state.checkpoints)
  if (Option.isNone(saved))
    return yield* new CommandFailure({ problem: `The run in ${directory} has no checkpoint yet. Continue it first.` })
  const instruction = Option.match(input.instruction, {
    onSome: (text) => given(text),
    onNone: () =>
      Option.match(setting.policies.weighting.best(state.population), {
        onSome: (member) => member.instruction,
        onNone: () => given(config.instruction.seed)
      })
  })
  const questions = loaded.data.test.slice(0, asked ?? loaded.data.test.length)

  const trajectories = yield* Effect.gen(function* () {
    const engine = yield* Engine
    const rollout = yield* Rollout
    yield* engine.restore(saved.value.checkpoint)
    return yield* rollout.collect(
      questions.map((question, index) => ({
        id: Trajectory.TrajectoryId.make(`eval/${index}`),
        instruction,
        question,
        seed: RandomStream.streamSeed(config.seed, ["eval", policy, index])
      }))
    )
  }).pipe(Effect.provide(layerServices(config, loaded.passages, filesOf(directory).checkpoints)))

  const sources = new Map(questions.map(({ dataSource, id }) => [id, dataSource]))
  const result = score(
    trajectories.map((trajectory) =>
      Group.fromTrajectories(sources.get(trajectory.questionId) ?? "unknown", [Trajectory.summary(trajectory)])
    )
  )
  if (input.json)
    return yield* Console.log(
      JSON.stringify({ runDir: directory, policy, instruction: instruction.text, step: saved.value.step, ...result })
    )
  const reporter = yield* Reporter.make("normal")
  return yield* reporter.lines([
    ...paragraph(instruction.text, "  ", reporter.columns),
    ...paragraph(
      `policy ${policy} training (step ${saved.value.step}): EM ${share(result.em)}, 95 % interval ` +
        `[${share(result.ci95[0])}, ${share(result.ci95[1])}] on ${result.n} questions, ` +
        `${result.toolCalls.toFixed(2)} tool calls each`,
      "",
      reporter.columns
    )
  ])
})

const given = (text: string): Instruction.Instruction => ({
  id: Instruction.InstructionId.make("given"),
  text,
  generation: 0,
  parent: null,
  origin: "seed",
  bornAt: 0
})
