/** Rolls out a batch of verification questions with the remaining candidates and, if needed, the parent. */
import { Invariant, Trajectory } from "@inspo/domain"
import { Round } from "@inspo/verification"
import { Array as Arr, Effect } from "effect"
import type * as Command from "../../Command.ts"
import type { Algorithm } from "../../Algorithm.ts"
import type { RunData } from "../../RunData.ts"
import { candidateInstruction } from "../../RunState.ts"
import type { TrajectoryStore } from "../../TrajectoryStore.ts"
import * as Attempts from "./Attempts.ts"

export const make = ({ randomSeed }: Algorithm, data: RunData, store: TrajectoryStore) => {
  const question = Attempts.lookup(data)
  return Effect.fn("Perform.verify")(function* (command: Command.Verify) {
    const { batch, candidates, parent, remaining, round, step } = command
    const asked = yield* Effect.forEach(command.questions, question)
    const arms = [
      ...remaining.map((place) => ({
        name: `candidate-${place}`,
        instruction: candidateInstruction(command, Invariant.at(candidates, place, "candidate"), place)
      })),
      ...(parent === null ? [] : [{ name: "parent", instruction: parent }])
    ]
    const episodes = arms.flatMap(({ instruction, name }) =>
      asked.flatMap((one, index) => {
        const place = command.asked + index
        // Common random numbers: on a question, the arms differ only in their instruction.
        const stream = ["verify", step, round, place]
        return Attempts.episodes(randomSeed, ["verify", step, round, name, place], instruction, one, 1, stream)
      })
    )
    const trajectories = yield* store.collect("verification", step, episodes)
    const paired = Round.paired(
      command.questions,
      arms.map((_, arm) => (_, index) => {
        const trajectory = Invariant.at(trajectories, arm * asked.length + index, "trajectory")
        return Trajectory.isFailed(trajectory) ? null : trajectory.reward
      })
    )
    const scores = new Map(Arr.zip(remaining, paired.scores))
    return {
      _tag: "CandidatesVerified",
      step,
      round,
      batch,
      asked: asked.length,
      questions: paired.questions,
      candidates: candidates.map((_, place) => scores.get(place) ?? []),
      parent: parent === null ? null : Invariant.at(paired.scores, remaining.length, "scores of the parent"),
      rollouts: trajectories.length,
      tokens: Attempts.tokens(trajectories),
      ...Attempts.failures(trajectories)
    } as const
  })
}
