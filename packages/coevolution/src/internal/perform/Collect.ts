/** The rollouts of a step: sampled `now`, or `earlier` and on record, because the engine has other weights by now. */
import { Invariant } from "@inspo/domain"
import { Effect } from "effect"
import type * as Command from "../../Command.ts"
import type { Algorithm } from "../../Algorithm.ts"
import type { RunData } from "../../RunData.ts"
import type { TrajectoryStore } from "../../TrajectoryStore.ts"
import type { RolloutsCollected } from "../../RunEvent.ts"
import * as Attempts from "./Attempts.ts"

export const make = (algorithm: Algorithm, data: RunData, store: TrajectoryStore) => {
  const question = Attempts.lookup(data)
  const { groupSize } = algorithm.rollout
  return Effect.fn("Perform.collect")(function* (
    { instructions, plan }: Omit<Command.Collect, "_tag">,
    sampled: "now" | "earlier"
  ) {
    const byId = new Map(instructions.map((instruction) => [instruction.id, instruction]))
    const planned = yield* Effect.forEach(
      Invariant.zip(plan.questions, plan.assignment, "questions and instructions"),
      ([questionId, id], index) =>
        Effect.gen(function* () {
          const instruction = byId.get(id)
          if (instruction === undefined)
            return yield* new Attempts.RunMismatch({
              reason: `instruction ${id} is planned for step ${plan.step} but not in the population`
            })
          const name = ["train", plan.step, index]
          const attempts = Attempts.episodes(
            algorithm.randomSeed,
            name,
            instruction,
            yield* question(questionId),
            plan.samples?.[index] ?? groupSize
          )
          const demonstration = data.demonstrations?.get(questionId)
          return demonstration === undefined ? attempts : attempts.map((attempt) => ({ ...attempt, demonstration }))
        })
    )
    const episodes = planned.flat()
    const trajectories =
      sampled === "now"
        ? yield* store.collect("train", plan.step, episodes)
        : yield* store.read(episodes.map(({ id }) => id))
    const outcome = yield* Attempts.outcome(question, trajectories)
    const event: RolloutsCollected = { _tag: "RolloutsCollected", step: plan.step, ...outcome }
    return event
  })
}
