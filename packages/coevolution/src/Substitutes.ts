/** What is trained in the place of rollouts that failed: earlier successes, and rescues under another instruction. */
import { type Group, type Instruction, type Method, type Question, RandomStream } from "@inspo/domain"
import { Memory } from "@inspo/replay-buffer"
import { Array as Arr, Record } from "effect"
import type { Algorithm } from "./Algorithm.ts"
import type { Replaced } from "./RunEvent.ts"
import type { Collected, RunState, Success, Successes } from "./RunState.ts"

/** KEPO's hints on failure, where the hint is another instruction of the population. */
export const rescue = {
  name: "rescue",
  description: "trains successes under another instruction in the places of rollouts of a group that failed",
  formula:
    "if sd < 0.05 and mean < 0.2: up to `members` rollouts := successes of `attempts` under the best other instruction",
  source: "KEPO, arXiv 2602.00400",
  certainty: "code",
  defaults: { attempts: 5, members: 2 }
} as const satisfies Method.Method

/** The successes after the groups of a step: at most `replay.successes` of each instruction on each question. */
export const remember = (
  { replay }: Pick<Algorithm, "replay">,
  known: Successes,
  groups: ReadonlyArray<Group.Group>
): Successes => {
  if (replay.successes === 0) return known
  const { threshold } = Memory.successes.defaults
  const after: { [instruction: string]: { [question: string]: ReadonlyArray<Success> } } = { ...known }
  for (const group of groups.filter(({ rewards }) => rewards.some((reward) => reward > threshold)))
    after[group.instructionId] = {
      ...after[group.instructionId],
      [group.questionId]: Memory.remember(storedFor(after, group), members(group), {
        size: replay.successes,
        threshold
      })
    }
  return after
}

/** The successes of the instructions that are still in the population. */
export const living = (known: Successes, ids: ReadonlyArray<Instruction.InstructionId>): Successes => {
  const alive = new Set<string>(ids)
  return Object.keys(known).every((id) => alive.has(id)) ? known : Record.filter(known, (_, id) => alive.has(id))
}

/** A substitute with its reward. */
export interface Substitute extends Replaced {
  readonly reward: number
}

/**
 * The substitutes in each group of a step, in the order of its groups: where all rollouts failed, an earlier success of the
 * instruction on the question in the place of the first one, else the first rescues in the places of as many.
 */
export const ofStep = (
  { randomSeed, rollout }: Pick<Algorithm, "randomSeed" | "rollout">,
  { successes }: Pick<RunState, "successes">,
  { groups, plan, rescues = [] }: Collected
): ReadonlyArray<ReadonlyArray<Substitute>> =>
  groups.map((group, index) => {
    if (!Memory.failed(group.rewards)) return []
    const stored = storedFor(successes, group)
    const success = Memory.drawn(stored, RandomStream.make(randomSeed, ["successes", plan.step, index]).next())
    const chosen = success === undefined ? rescuesOf(group, rescues).slice(0, rollout.rescue?.members ?? 0) : [success]
    return Arr.zipWith(group.trajectories, chosen, (member, { id, reward }) => ({
      member,
      by: id,
      from: success === undefined ? "rescue" : "successes",
      reward
    }))
  })

/** Whether all rollouts of a group failed, and no earlier success is in memory. */
export const isWithoutSuccess = ({ successes }: Pick<RunState, "successes">, group: Group.Group): boolean =>
  Memory.failed(group.rewards) && storedFor(successes, group).length === 0

/** The rewards of a group after its substitutions. */
export const rewards = (group: Group.Group, substitutes: ReadonlyArray<Substitute>): ReadonlyArray<number> => {
  if (substitutes.length === 0) return group.rewards
  const replaced = new Map(substitutes.map(({ member, reward }) => [member, reward]))
  return members(group).map(({ id, reward }) => replaced.get(id) ?? reward)
}

const rescuesOf = (
  { instructionId, questionId }: Group.Group,
  rescues: ReadonlyArray<Group.Group>
): ReadonlyArray<Success> =>
  rescues
    .filter((group) => group.questionId === questionId && group.instructionId !== instructionId)
    .flatMap(members)
    .filter(({ reward }) => reward > Memory.successes.defaults.threshold)

const storedFor = (
  known: Successes,
  { instructionId, questionId }: { instructionId: Instruction.InstructionId; questionId: Question.QuestionId }
): ReadonlyArray<Success> => known[instructionId]?.[questionId] ?? []

/** The members that are known by id: in a dry run only the first of each group. */
const members = ({ rewards, trajectories }: Group.Group): ReadonlyArray<Success> =>
  Arr.zipWith(trajectories, rewards, (id, reward) => ({ id, reward }))
