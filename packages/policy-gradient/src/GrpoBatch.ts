import type { Trajectory } from "@inspo/domain"
import type { Datum, TrainRequest } from "@inspo/engine"
import { Array, Record } from "effect"
import * as Advantage from "./Advantage.ts"
import * as LearningRate from "./LearningRate.ts"
import type { MiniBatchUnit, Normalization, TrainConfig } from "./TrainConfig.ts"

/** The tokens of a trajectory and what identifies its group. */
export type Sampled = Pick<
  Trajectory.Trajectory,
  "instructionId" | "questionId" | "reward" | "prompt" | "response" | "logprobs" | "mask"
>

/** A trajectory with its advantage within its group. */
export interface Scored {
  readonly trajectory: Sampled
  readonly advantage: number
}

/**
 * Gathers the trajectories of a step into groups of one (instruction, question) pair, in order of first appearance.
 * The question alone is no group: two instructions on one question are two baselines.
 */
export const groups = (trajectories: ReadonlyArray<Sampled>): ReadonlyArray<Array.NonEmptyReadonlyArray<Sampled>> =>
  Record.values(Array.groupBy(trajectories, (t) => JSON.stringify([t.instructionId, t.questionId])))

/** The trajectories of one group with their advantages, in order. */
export const score = (group: ReadonlyArray<Sampled>, kind: Advantage.Advantage): ReadonlyArray<Scored> => {
  const rewards = group.map((trajectory) => trajectory.reward)
  return Array.zipWith(group, Advantage.advantages(rewards, kind), (trajectory, advantage) => ({
    trajectory,
    advantage
  }))
}

/**
 * Splits the groups of a step, in order, into mini-batches of `size` groups or of `size` members. The last one may be
 * smaller; none is empty.
 */
export const miniBatches = <A>(
  groups: ReadonlyArray<ReadonlyArray<A>>,
  size: number,
  unit: MiniBatchUnit
): ReadonlyArray<ReadonlyArray<A>> =>
  unit === "questions" ? Array.chunksOf(groups, size).map(Array.flatten) : Array.chunksOf(Array.flatten(groups), size)

/**
 * The mini-batch as training data. Every action token carries its trajectory's advantage and its share of the loss:
 * with `sequence-mean` 1 / (sequences of the mini-batch × action tokens of its sequence), with `token-mean`
 * 1 / action tokens of the mini-batch. Observation tokens carry 0 for both.
 *
 * Sequences that cannot move the policy are left out yet counted in the shares: those without action tokens, and
 * those of advantage 0 when `klCoefficient` is 0.
 */
export const datums = (
  miniBatch: ReadonlyArray<Scored>,
  options: { readonly normalization: Normalization; readonly klCoefficient: number }
): ReadonlyArray<Datum> => {
  const allActions = miniBatch.reduce((sum, { trajectory }) => sum + actionTokens(trajectory), 0)
  return miniBatch.flatMap(({ advantage, trajectory }) => {
    const actions = actionTokens(trajectory)
    if (actions === 0 || (advantage === 0 && options.klCoefficient === 0)) return []
    const weight = options.normalization === "sequence-mean" ? 1 / (miniBatch.length * actions) : 1 / allActions
    return [
      {
        prompt: trajectory.prompt,
        response: trajectory.response,
        logprobs: trajectory.logprobs,
        advantages: trajectory.mask.map((isAction) => (isAction === 1 ? advantage : 0)),
        weights: trajectory.mask.map((isAction) => (isAction === 1 ? weight : 0))
      }
    ]
  })
}

/**
 * The optimizer steps that one step of the run takes on its trajectories, in order; mini-batches that cannot move the
 * policy are left out. `key` names the step; each request's key adds its mini-batch's place, so it is the same whenever
 * the step is redone.
 */
export const trainRequests = (
  trajectories: ReadonlyArray<Sampled>,
  config: TrainConfig,
  position: { readonly key: string; readonly step: number; readonly totalSteps: number }
): ReadonlyArray<TrainRequest> => {
  const scored = groups(trajectories).map((group) => score(group, config.advantage))
  const learningRate = LearningRate.at(config, position.step, position.totalSteps)
  return miniBatches(scored, config.miniBatchSize, config.unit).flatMap((miniBatch, index) => {
    const batch = datums(miniBatch, config)
    if (batch.length === 0) return []
    return [
      {
        key: `${position.key}/${index}`,
        datums: batch,
        loss: { clipRatio: config.clipRatio, klCoefficient: config.klCoefficient },
        optimizer: {
          learningRate,
          beta1: config.beta1,
          beta2: config.beta2,
          weightDecay: config.weightDecay,
          gradientClip: config.gradientClip
        }
      }
    ]
  })
}

const actionTokens = (trajectory: Sampled): number => trajectory.mask.filter((isAction) => isAction === 1).length
