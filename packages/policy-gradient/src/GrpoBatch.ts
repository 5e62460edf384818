import { InvalidInput, Invariant, Trajectory } from "@inspo/domain"
import type { Datum, TrainRequest } from "@inspo/engine"
import { Array, Record } from "effect"
import * as Advantage from "./Advantage.ts"
import type { Member } from "./Estimator.ts"
import type { LossConfig, MiniBatchUnit, TrainConfig } from "./TrainConfig.ts"

/** The tokens of a trajectory and what identifies its group. */
export type Sampled = Pick<
  Trajectory.Trajectory,
  "instructionId" | "questionId" | "reward" | "prompt" | "response" | "logprobs" | "mask"
> &
  Partial<Pick<Trajectory.Trajectory, "answer" | "earlier">>

/** The value of each instruction, by id; fixed before the samples were drawn. */
export type Levels = Readonly<Record<string, number>>

/** A trajectory with its advantage within its group. */
export interface Scored {
  readonly trajectory: Sampled
  readonly advantage: number
}

/**
 * Gathers the trajectories of a step into groups of one (instruction, question) pair, in order of first appearance.
 * Two instructions on one question are two groups, each with its own baseline.
 */
export const groups = (trajectories: ReadonlyArray<Sampled>): ReadonlyArray<Array.NonEmptyReadonlyArray<Sampled>> =>
  Record.values(Array.groupBy(trajectories, (t) => JSON.stringify([t.instructionId, t.questionId])))

/** Gathers the trajectories of a step into groups of one question, under any instructions. */
export const sharedGroups = (
  trajectories: ReadonlyArray<Sampled>
): ReadonlyArray<Array.NonEmptyReadonlyArray<Sampled>> =>
  Record.values(Array.groupBy(trajectories, ({ questionId }) => JSON.stringify(questionId)))

/**
 * The trajectories of the groups of a step with their advantages, in order. With `levels`, the value of each instruction, the
 * advantages are those of the rewards less the level of the instruction they were sampled under.
 */
export const scoreAll = (
  groups: ReadonlyArray<ReadonlyArray<Sampled>>,
  kind: Advantage.Advantage,
  levels?: Levels
): ReadonlyArray<ReadonlyArray<Scored>> =>
  Array.zipWith(
    groups,
    Advantage.ofBatch(
      groups.map((group) => group.map((trajectory) => member(trajectory, levels))),
      kind
    ),
    (group, advantages) => Array.zipWith(group, advantages, (trajectory, advantage) => ({ trajectory, advantage }))
  )

/** The same of one group by itself. */
export const score = (
  group: ReadonlyArray<Sampled>,
  kind: Advantage.Advantage,
  levels?: Levels
): ReadonlyArray<Scored> => scoreAll([group], kind, levels).flat()

/** What estimators read of a trajectory. A call ends its run of action tokens, and an observation follows. */
const member = (trajectory: Sampled, levels?: Levels): Member => {
  const { answer = null, instructionId, reward } = trajectory
  const segments = Trajectory.segments(trajectory)
  // A run of action tokens ends with its segment.
  const mask = segments.flatMap(({ mask }, index): Sampled["mask"] => (index === 0 ? mask : [0, ...mask]))
  const start = mask.indexOf(1)
  const end = start === -1 ? -1 : mask.indexOf(0, start)
  return {
    reward: reward - (levels?.[instructionId] ?? 0),
    length: actionTokens(segments),
    answer,
    firstCall: end === -1 ? null : end - start
  }
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
 * The mini-batch as training data: one datum for each segment of a trajectory, so that each action token is trained in the
 * context that it was sampled in. It carries its trajectory's advantage and its share of the loss: with `sequence-mean`
 * 1 / (trajectories of the mini-batch × action tokens of its trajectory), with `token-mean` 1 / action tokens of the
 * mini-batch. Observation tokens carry 0 for both.
 *
 * Throws `InvalidInput` unless every token has a log-probability and a mask. What cannot change the policy is left out but
 * counted in the shares: segments without action tokens, and trajectories of advantage 0 without a KL or entropy term.
 */
export const datums = (
  miniBatch: ReadonlyArray<Scored>,
  options: Pick<LossConfig, "normalization" | "klCoefficient" | "entropyCoefficient">
): ReadonlyArray<Datum> => {
  for (const { trajectory } of miniBatch) assertParallel(trajectory)
  const counts = miniBatch.map(({ trajectory }) => actionTokens(Trajectory.segments(trajectory)))
  const allActions = counts.reduce((sum, count) => sum + count, 0)
  const rewardsAlone = options.klCoefficient === 0 && options.entropyCoefficient === 0
  return Array.zip(miniBatch, counts).flatMap(([{ advantage, trajectory }, actions]) => {
    if (advantage === 0 && rewardsAlone) return []
    const weight = options.normalization === "sequence-mean" ? 1 / (miniBatch.length * actions) : 1 / allActions
    return Trajectory.segments(trajectory).flatMap((segment) =>
      actionTokens([segment]) === 0
        ? []
        : [
            {
              prompt: segment.prompt,
              response: segment.response,
              logprobs: segment.logprobs,
              advantages: segment.mask.map((isAction) => (isAction === 1 ? advantage : 0)),
              weights: segment.mask.map((isAction) => (isAction === 1 ? weight : 0))
            }
          ]
    )
  })
}

/**
 * Folds the KL penalty into a request whose loss has no KL term: every action token's advantage is lowered by
 * β · (log π - log π_ref) at sampling time, the k1 estimate of KL(π ‖ π_ref). `reference` holds the log-probabilities of
 * each datum's response under the reference policy, in datum order; `klCoefficient` is β.
 *
 * At ratio 1 the gradient of this is that of the loss β · ½(log π - log π_ref)², the k2 estimate (Schulman, "Approximating
 * KL Divergence", 2020), whose mean over samples is the gradient of β · KL(π ‖ π_ref).
 */
export const foldKl = (
  request: TrainRequest,
  reference: ReadonlyArray<ReadonlyArray<number>>,
  klCoefficient: number
): TrainRequest => ({
  ...request,
  datums: Invariant.zip(request.datums, reference, "datums and their reference log-probabilities").map(
    ([datum, logprobs]) => {
      const ratios = Invariant.zip(datum.logprobs, logprobs, "log-probabilities and reference log-probabilities")
      return {
        ...datum,
        advantages: Invariant.zip(datum.advantages, ratios, "advantages and log-probabilities").map(
          ([advantage, [own, other]], token) =>
            datum.weights[token] === 0 ? advantage : advantage - klCoefficient * (own - other)
        )
      }
    }
  )
})

/**
 * The optimizer steps that one step of the run takes on its trajectories, in order: all mini-batches, `epochs` times over,
 * without those that cannot change the policy. The log-probabilities are those of sampling throughout. `key` names the step;
 * each request's key adds its place, so it is the same when the step is repeated. With `levels` the trajectories of a
 * question are one group under any instructions, else those of an instruction and question. With `kl` in the advantages, the
 * caller must add the penalty with {@link foldKl}.
 */
export const trainRequests = (
  trajectories: ReadonlyArray<Sampled>,
  config: TrainConfig,
  step: { readonly key: string; readonly learningRate: number; readonly levels?: Levels }
): ReadonlyArray<TrainRequest> => {
  const gather = step.levels === undefined ? groups : sharedGroups
  const scored = scoreAll(gather(trajectories), config.advantage, step.levels)
  const { epochs, size, unit } = config.miniBatch
  const batches = miniBatches(scored, size, unit).map((miniBatch) => datums(miniBatch, config.loss))
  return Array.flatten(Array.replicate(batches, epochs)).flatMap((batch, index) =>
    batch.length === 0 ? [] : [request(batch, config, { key: `${step.key}/${index}`, learningRate: step.learningRate })]
  )
}

const request = (
  batch: ReadonlyArray<Datum>,
  { loss, optimizer }: TrainConfig,
  update: { readonly key: string; readonly learningRate: number }
): TrainRequest => ({
  key: update.key,
  datums: batch,
  loss: {
    clipRatio: loss.clipRatio,
    klCoefficient: loss.kl === "loss" ? loss.klCoefficient : 0,
    ...(loss.entropyCoefficient === 0 ? {} : { entropyCoefficient: loss.entropyCoefficient })
  },
  optimizer: {
    learningRate: update.learningRate,
    beta1: optimizer.beta1,
    beta2: optimizer.beta2,
    weightDecay: optimizer.weightDecay,
    gradientClip: optimizer.gradientClip
  }
})

const assertParallel = (trajectory: Sampled): void => {
  for (const { logprobs, mask, response } of Trajectory.segments(trajectory))
    for (const [field, { length }] of Object.entries({ logprobs, mask }))
      if (length !== response.length)
        InvalidInput.refuse({
          where: "GrpoBatch",
          field: `length of ${field} on ${trajectory.questionId}`,
          value: length,
          expected: `that of the response, ${response.length}`
        })
}

const actionTokens = (segments: ReadonlyArray<Pick<Trajectory.Segment, "mask">>): number =>
  segments.reduce((sum, { mask }) => sum + mask.filter((isAction) => isAction === 1).length, 0)
