/** The further rounds of a step: what they ask, when they end, and what the step trains then. */
import { type Group, type Instruction, Invariant, type Question, RandomStream } from "@inspo/domain"
import { Keeps } from "@inspo/policy-gradient"
import { QuestionStream } from "@inspo/sampler"
import { Array as Arr, Order } from "effect"
import type { Algorithm } from "./Algorithm.ts"
import type * as Command from "./Command.ts"
import type { Failed, Replaced, RolloutsCollected, RoundPlanned } from "./RunEvent.ts"
import type { Collected, Phase, Round, RunState, StepPlan } from "./RunState.ts"
import * as Schedule from "./Schedule.ts"
import type { DecisionContext } from "./Strategies.ts"
import * as Substitutes from "./Substitutes.ts"

/** The most further rounds of questions in a step. */
export const draws = ({ train: { keep } }: Pick<Algorithm, "train">): number =>
  keep.name === "differing" ? keep.draws : 0

/** The most rollouts of a step's further rounds, after `groups` groups. */
export const mostRollouts = (algorithm: Algorithm, step: number, groups: number): number => {
  if (!mayExtend(algorithm, step)) return 0
  const { groupSize, rescue } = algorithm.rollout
  return groups * (draws(algorithm) * groupSize + (rescue?.attempts ?? 0))
}

/** What a collection says about its round, where a step can have further ones. */
export const toCollect = (
  algorithm: Algorithm,
  { further, plan, rounds = [] }: Extract<Phase, { readonly _tag: "Collect" }>
): Pick<Command.Collect, "round"> =>
  mayExtend(algorithm, plan.step)
    ? {
        round: {
          number: rounds.length,
          first: rounds.reduce((sum, round) => sum + round.plan.questions.length, 0),
          further: further ?? null
        }
      }
    : {}

/** The next round of a step, or the rewards of all: failed groups are rescued first, then further questions are asked. */
export const next = (
  context: DecisionContext,
  state: RunState,
  { plan, rounds }: Extract<Phase, { readonly _tag: "Extend" }>
): RoundPlanned | RolloutsCollected => {
  const rescues = rounds.filter((round) => purposeOf(round) === "rescue")
  const asked = rounds.filter((round) => purposeOf(round) !== "rescue")
  const whole: RolloutsCollected = {
    _tag: "RolloutsCollected",
    step: plan.step,
    groups: asked.flatMap(({ collected }) => collected.groups),
    ...failures(rounds),
    ...(rescues.length === 0 ? {} : { rescues: rescues.flatMap(({ collected }) => collected.groups) })
  }
  const soFar = { ...whole, plan }
  const questions = rounds.length === 1 ? rescued(context.algorithm, state, soFar) : []
  const planned = (purpose: RoundPlanned["purpose"], groups: ReadonlyArray<Asked>): RoundPlanned => ({
    _tag: "RoundPlanned",
    step: plan.step,
    round: rounds.length,
    purpose,
    questions: groups.map(({ question }) => question),
    assignment: groups.map(({ instruction }) => instruction),
    samples: groups.map(({ samples }) => samples)
  })
  if (questions.length > 0) return planned("rescue", questions)
  const more = further(context, state, soFar, asked.length)
  return more.length > 0 ? planned("differing", more) : whole
}

/**
 * The groups that a step trains, and what is replaced in them. Where further questions may be asked, these are the first groups that
 * differ, as many as planned, or all if there are fewer.
 */
export const batch = (
  algorithm: Algorithm,
  state: RunState,
  step: Collected
): { readonly groups: ReadonlyArray<Group.Group>; readonly replaced: ReadonlyArray<Replaced> } => {
  const all = Arr.zip(step.groups, Substitutes.ofStep(algorithm, state, step))
  const differing = all.filter(([group, substitutes]) => new Set(Substitutes.rewards(group, substitutes)).size > 1)
  const wanted = step.plan.questions.length
  const trained = draws(algorithm) > 0 && differing.length >= wanted ? differing.slice(0, wanted) : all
  return {
    groups: trained.map(([group]) => group),
    replaced: trained.flatMap(([, substitutes]) => substitutes.map(({ by, from, member }) => ({ member, by, from })))
  }
}

/** A group to be asked. */
export interface Asked {
  readonly question: Question.QuestionId
  readonly instruction: Instruction.InstructionId
  readonly samples: number
}

/** The groups of some questions, each of one instruction. */
export const assigned = (
  { questions, strategies }: DecisionContext,
  values: StepPlan["values"],
  { seed, step }: { readonly seed: number; readonly step: number },
  indices: ReadonlyArray<number>
): ReadonlyArray<Asked> => {
  const batch = indices.map((index) => Invariant.at(questions, index, "training question"))
  const drawn = strategies.sampler.assign({ seed, step, values, questions: batch })
  return Invariant.zip(batch, drawn, "draws").flatMap(([{ id }, instructions]) =>
    Array.from(
      Map.groupBy(instructions, (instruction) => instruction),
      ([instruction, same]) => ({ question: id, instruction, samples: same.length })
    )
  )
}

/** The questions of failed groups, each under the instruction of the highest value other than its own. */
const rescued = ({ rollout: { rescue } }: Algorithm, state: RunState, { groups, plan }: Collected) =>
  rescue === null
    ? []
    : Arr.dedupeWith(
        groups
          .filter((group) => Substitutes.isWithoutSuccess(state, group))
          .flatMap(({ instructionId, questionId }) => {
            const [best] = Arr.sort(
              plan.values.filter(({ id }) => id !== instructionId),
              Order.flip(Order.mapInput(Order.Number, ({ value }: StepPlan["values"][number]) => value))
            )
            return best === undefined ? [] : [{ question: questionId, instruction: best.id, samples: rescue.attempts }]
          }),
        (a, b) => a.question === b.question && a.instruction === b.instruction
      )

/** Further questions of a step after `rounds` rounds of questions; none when enough groups differ, or no draw is left. */
const further = (context: DecisionContext, state: RunState, step: Collected, rounds: number): ReadonlyArray<Asked> => {
  const { algorithm, questions } = context
  const { plan } = step
  const rewards = Arr.zipWith(step.groups, Substitutes.ofStep(algorithm, state, step), Substitutes.rewards)
  const limit = draws(algorithm) + 1
  if (rounds === limit || Keeps.stillWanted(rewards, { wanted: plan.questions.length, limit }) === 0) return []
  const { randomSeed: seed, train } = algorithm
  const request = { seed, step: plan.step, batchSize: train.batchSize, size: questions.length }
  return assigned(
    context,
    plan.values,
    { seed: RandomStream.make(seed, ["round", plan.step, rounds]).nextIntBetween(0, 2 ** 31 - 1), step: plan.step },
    QuestionStream.further(request, rounds)
  ).map((group) => ({ ...group, samples: algorithm.rollout.groupSize }))
}

const mayExtend = (algorithm: Algorithm, step: number): boolean =>
  Schedule.trains(algorithm, step) && (draws(algorithm) > 0 || algorithm.rollout.rescue !== null)

const purposeOf = ({ plan }: Round) => (plan._tag === "RoundPlanned" ? plan.purpose : "first")

const failures = (rounds: ReadonlyArray<Round>): { readonly failed?: typeof Failed.Type } => {
  const all = rounds.flatMap(({ collected: { failed } }) => failed ?? [])
  if (!Arr.isReadonlyArrayNonEmpty(all)) return {}
  const tokens = all.reduce((sum, part) => sum + part.tokens, 0)
  return { failed: { ...all[0], trajectories: Arr.flatMap(all, ({ trajectories }) => trajectories), tokens } }
}
