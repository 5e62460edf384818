/** Rolls out the verification questions with the candidates and, if needed, the parent. */
import { Invariant, Trajectory } from "@inspo/domain"
import { Verification } from "@inspo/verification"
import { Effect } from "effect"
import type * as Command from "../../Command.ts"
import type { Algorithm } from "../../Algorithm.ts"
import type { RunData } from "../../RunData.ts"
import { candidateInstruction } from "../../RunState.ts"
import type { TrajectoryStore } from "../../TrajectoryStore.ts"
import * as Attempts from "./Attempts.ts"

export const make = ({ randomSeed }: Algorithm, data: RunData, store: TrajectoryStore) => {
  const question = Attempts.lookup(data)
  return Effect.fn("Perform.verify")(function* (command: Command.Verify) {
    const { candidates, parent, round, step } = command
    const asked = yield* Effect.forEach(command.questions, question)
    const arms = [
      ...candidates.map((candidate, place) => ({
        name: `candidate-${place}`,
        instruction: candidateInstruction(command, candidate, place)
      })),
      ...(parent === null ? [] : [{ name: "parent", instruction: parent }])
    ]
    const episodes = arms.flatMap(({ instruction, name }) =>
      asked.flatMap((one, place) => {
        // Common random numbers: on a question, the arms differ only in their instruction.
        const stream = ["verify", step, round, place]
        return Attempts.episodes(randomSeed, ["verify", step, round, name, place], instruction, one, 1, stream)
      })
    )
    const trajectories = yield* store.collect("verification", step, episodes)
    const paired = Verification.paired(
      command.questions,
      arms.map((_, arm) => (_, index) => {
        const trajectory = Invariant.at(trajectories, arm * asked.length + index, "trajectory")
        return Trajectory.isFailed(trajectory) ? null : trajectory.reward
      })
    )
    return {
      _tag: "CandidatesVerified",
      step,
      round,
      questions: paired.questions,
      candidates: paired.scores.slice(0, candidates.length),
      parent: parent === null ? null : Invariant.at(paired.scores, candidates.length, "scores of the parent"),
      rollouts: trajectories.length,
      tokens: Attempts.tokens(trajectories),
      ...Attempts.failures(trajectories)
    } as const
  })
}
