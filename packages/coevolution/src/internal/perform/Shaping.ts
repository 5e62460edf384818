/** The rewards that a policy is trained on, where they are not those that instructions are credited with. */
import { Trajectory } from "@inspo/domain"
import { GrpoBatch } from "@inspo/policy-gradient"
import { ExactMatch, type FindingOfJudge, GroupRewards } from "@inspo/reward"
import { Array as Arr } from "effect"
import { type Algorithm, sharesGroups } from "../../Algorithm.ts"

/** The trajectories with the rewards of `reward.shaping`, in order. */
export const shaped = (
  algorithm: Pick<Algorithm, "reward" | "rollout">,
  trajectories: ReadonlyArray<Trajectory.Trajectory>,
  found: Found = new Map()
): ReadonlyArray<Trajectory.Trajectory> => {
  const { shaping } = algorithm.reward
  const reward = GroupRewards.named(shaping)
  if (reward === null) return trajectories
  const { name: _, ...constants } = shaping
  const gather = sharesGroups(algorithm) ? GrpoBatch.sharedGroups : GrpoBatch.groups
  const rewards = new Map(
    gather(trajectories).flatMap((group) => Arr.zip(group, reward.of(group.map(attemptOf(found)), constants)))
  )
  return trajectories.map((trajectory) => ({ ...trajectory, reward: rewards.get(trajectory) ?? trajectory.reward }))
}

/** What was found of trajectories beside their rewards. */
export type Found = ReadonlyMap<Trajectory.TrajectoryId, FindingOfJudge>

/** What rewards of groups read of a trajectory. An answer that no observation holds is flawed, unless a judge says otherwise. */
const attemptOf = (found: Found) => (trajectory: Trajectory.Trajectory) => {
  const { answer, budget = null, id, reward, transcript } = trajectory
  const calls = transcript.flatMap(({ action, observation }) => (observation === null ? [] : [action.kind]))
  const observations = transcript.flatMap(({ observation }) => observation ?? [])
  return {
    reward,
    budget,
    length: Trajectory.actionTokens(Trajectory.segments(trajectory)),
    answer: answer === null ? null : ExactMatch.normalizeAnswer(answer),
    calls: Object.fromEntries(
      Array.from(
        Map.groupBy(calls, (kind) => kind),
        ([kind, all]) => [kind, all.length]
      )
    ),
    words: transcript.flatMap(({ text }) => text.split(/\s+/u).filter((word) => word !== "")),
    flawed: !observations.some((text) => ExactMatch.substringExactMatch(text, [answer ?? ""]) === 1),
    ...found.get(id)
  }
}
