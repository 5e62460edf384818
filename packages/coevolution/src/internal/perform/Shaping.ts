/** The rewards that a policy is trained on, where they are not those that instructions are credited with. */
import { Trajectory } from "@inspo/domain"
import { GrpoBatch } from "@inspo/policy-gradient"
import { ExactMatch, type FindingOfJudge, GroupRewards } from "@inspo/reward"
import { Agents } from "@inspo/rollout"
import { Array as Arr } from "effect"
import { type Algorithm, sharesGroups } from "../../Algorithm.ts"
import type { Findings } from "../../RunEvent.ts"
import * as Turns from "./Turns.ts"

/** The trajectories with the rewards of `reward.shaping` and with their answers as compared, in order. */
export const shaped = (
  algorithm: Shaped,
  trajectories: ReadonlyArray<Trajectory.Trajectory>,
  found: Found = new Map()
): ReadonlyArray<Trajectory.Trajectory> => {
  const { shaping } = algorithm.reward
  const reward = GroupRewards.named(shaping)
  const { name: _, ...constants } = shaping
  const attempt = attemptOf(algorithm, found)
  const groups = reward === null ? [] : grouped(algorithm, trajectories)
  const rewards = new Map(groups.flatMap((group) => Arr.zip(group, reward?.of(group.map(attempt), constants) ?? [])))
  return trajectories.map((trajectory) => ({
    ...trajectory,
    answer: comparedAnswer(trajectory),
    reward: rewards.get(trajectory) ?? trajectory.reward
  }))
}

/** The answer of a trajectory, normalised; null if nothing of it is left. */
const comparedAnswer = ({ answer }: Pick<Trajectory.Trajectory, "answer">): string | null =>
  ExactMatch.normalizeAnswer(answer ?? "") || null

type Shaped = Pick<Algorithm, "reward" | "rollout">

/** The trajectories of a step in the groups whose members are compared. */
export const grouped = (algorithm: Pick<Algorithm, "rollout">, trajectories: ReadonlyArray<Trajectory.Trajectory>) =>
  (sharesGroups(algorithm) ? GrpoBatch.sharedGroups : GrpoBatch.groups)(trajectories)

/** What was found of trajectories beside their rewards. One of them can stand in two places of a step, so their ids do not do. */
export type Found = ReadonlyMap<Trajectory.Trajectory, FindingOfJudge>

/** The findings of a step by trajectory: they are in the order of its groups. */
export const foundOf = (
  algorithm: Pick<Algorithm, "rollout">,
  trajectories: ReadonlyArray<Trajectory.Trajectory>,
  findings: Findings | null
): Found => new Map(Arr.zip(grouped(algorithm, trajectories).flat(), findings?.of ?? []))

/**
 * What rewards of groups read of a trajectory. An answer that no observation holds is flawed, unless a judge says otherwise. What an
 * agent carries out itself is no call of a tool, but can have its price.
 */
const attemptOf = ({ reward: { shaping }, rollout }: Shaped, found: Found) => {
  const { ownActions = [] } = Agents.fromConfig(rollout)
  const free = new Set(shaping.name === "costs" ? [] : ["invalid", ...ownActions])
  return (trajectory: Trajectory.Trajectory) => {
    const { budget = null, reward, transcript } = trajectory
    const answer = comparedAnswer(trajectory)
    const shown = transcript.filter(({ observation }) => observation !== null)
    const calls = shown.flatMap(({ action }) => (free.has(action.kind) ? [] : [action.kind]))
    return {
      reward,
      budget,
      length: Trajectory.actionTokens(Trajectory.segments(trajectory)),
      answer,
      calls: Object.fromEntries(
        Array.from(
          Map.groupBy(calls, (kind) => kind),
          ([kind, all]) => [kind, all.length]
        )
      ),
      words: transcript.flatMap(({ text }) => text.split(/\s+/u).filter((word) => word !== "")),
      flawed: answer !== null && !shown.some(({ observation }) => Turns.shows(observation ?? "", answer)),
      ...found.get(trajectory)
    }
  }
}
