/** Held-out questions, answered once each: those of a validation, and the cells of the final table. */
import type { Instruction, Question, RandomStream } from "@inspo/domain"
import { Array as Arr, Effect } from "effect"
import type * as Command from "../../Command.ts"
import type { Algorithm } from "../../Algorithm.ts"
import type { RunData } from "../../RunData.ts"
import type { RunState } from "../../RunState.ts"
import * as Schedule from "../../Schedule.ts"
import type { TrajectoryStore } from "../../TrajectoryStore.ts"
import type { Evaluated, Validated } from "../../RunEvent.ts"
import * as Attempts from "./Attempts.ts"
import type { Checkpoints } from "./Checkpoints.ts"

export const make = (algorithm: Algorithm, data: RunData, store: TrajectoryStore, checkpoints: Checkpoints) => {
  const question = Attempts.lookup(data)

  const answer = Effect.fnUntraced(function* (
    purpose: "validation" | "evaluation",
    step: number,
    questions: ReadonlyArray<Question.Question>,
    instruction: Instruction.Instruction,
    name: RandomStream.StreamPath
  ) {
    const episodes = questions.flatMap((one, index) =>
      Attempts.episodes(algorithm.randomSeed, [...name, index], instruction, one, 1)
    )
    return yield* Attempts.outcome(question, yield* store.collect(purpose, step, episodes))
  })

  const validate = Effect.fn("Perform.validate")(function* ({ instruction, step }: Command.Validate) {
    const questions = Arr.take(data.validation, Schedule.validationQuestions)
    const answers = yield* answer("validation", step, questions, instruction, ["validate", step])
    const event: Validated = { _tag: "Validated", step, instruction: instruction.id, ...answers }
    return event
  })

  const evaluate = Effect.fn("Perform.evaluate")(function* (command: Command.Evaluate, state: RunState) {
    const { checkpointStep, instruction, policy } = command
    yield* checkpoints.restore(checkpointStep, state)
    const questions = Arr.take(data.test, algorithm.evaluation.questions)
    const answers = yield* answer("evaluation", state.step, questions, instruction, [
      "evaluate",
      policy,
      instruction.id
    ])
    const event: Evaluated = { _tag: "Evaluated", policy, instruction: instruction.id, ...answers }
    return event
  })

  return { validate, evaluate }
}
