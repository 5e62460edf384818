import { InvalidInput, Invariant, Trajectory } from "@inspo/domain"
import type { Datum, TrainRequest } from "@inspo/engine"
import { Array, Record } from "effect"
import * as Advantage from "./Advantage.ts"
import * as Credits from "./Credits.ts"
import type { Member } from "./Estimator.ts"
import * as Keeps from "./Keeps.ts"
import * as Losses from "./Losses.ts"
import * as Weighing from "./Weighing.ts"
import { klCoefficient, type MiniBatch, type TrainConfig } from "./TrainConfig.ts"

/** The tokens of a trajectory and what identifies its group. */
export type Sampled = Pick<
  Trajectory.Trajectory,
  "instructionId" | "questionId" | "reward" | "prompt" | "response" | "logprobs" | "mask"
> &
  Partial<Pick<Trajectory.Trajectory, "answer" | "budget" | "earlier" | "finishReason" | "transcript">>

/** The value of each instruction, by id; fixed before the samples were drawn. */
export type Levels = Readonly<Record<string, number>>

/** A trajectory with its advantage within its group. */
export interface Scored {
  readonly trajectory: Sampled
  readonly advantage: number
  /** The advantage of each turn, where they differ. */
  readonly turns?: ReadonlyArray<number>
  /** The advantage of each action token, where they differ. */
  readonly tokens?: ReadonlyArray<number>
}

/**
 * Gathers the trajectories of a step into groups of one (instruction, question) pair, in order of first appearance.
 * Two instructions on one question are two groups, each with its own baseline.
 */
export const groups = <A extends Sampled>(
  trajectories: ReadonlyArray<A>
): ReadonlyArray<Array.NonEmptyReadonlyArray<A>> =>
  Record.values(Array.groupBy(trajectories, (t) => JSON.stringify([t.instructionId, t.questionId])))

/** Gathers the trajectories of a step into groups of one question, under any instructions. */
export const sharedGroups = <A extends Sampled>(
  trajectories: ReadonlyArray<A>
): ReadonlyArray<Array.NonEmptyReadonlyArray<A>> =>
  Record.values(Array.groupBy(trajectories, ({ questionId }) => JSON.stringify(questionId)))

/**
 * The trajectories of the groups of a step with their advantages, in order. With `levels`, the value of each instruction, the
 * advantages are those of the rewards less the level of the instruction they were sampled under.
 */
export const scoreAll = (
  groups: ReadonlyArray<ReadonlyArray<Sampled>>,
  kind: Advantage.Kind | Pick<Advantage.Interface, "ofBatch">,
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
export const score = (group: ReadonlyArray<Sampled>, kind: Advantage.Kind, levels?: Levels): ReadonlyArray<Scored> =>
  scoreAll([group], kind, levels).flat()

/** A reward less the level of its instruction. */
const aboveLevel = ({ instructionId, reward }: Sampled, levels?: Levels): number =>
  reward - (levels?.[instructionId] ?? 0)

/** What estimators read of a trajectory. A call ends its run of action tokens, and an observation follows. */
const member = (trajectory: Sampled, levels?: Levels): Member => {
  const { answer = null, budget } = trajectory
  const segments = Trajectory.segments(trajectory)
  // A run of action tokens ends with its segment.
  const mask = segments.flatMap(({ mask }, index): Sampled["mask"] => (index === 0 ? mask : [0, ...mask]))
  const start = mask.indexOf(1)
  const end = start === -1 ? -1 : mask.indexOf(0, start)
  return {
    reward: aboveLevel(trajectory, levels),
    length: Trajectory.actionTokens(segments),
    answer,
    firstCall: end === -1 ? null : end - start,
    ...(budget === undefined ? {} : { budget })
  }
}

/** Splits the groups of a step into mini-batches of `size` groups or members, in order. The last may be smaller; none is empty. */
export const miniBatches = <A>(
  groups: ReadonlyArray<ReadonlyArray<A>>,
  size: number,
  unit: MiniBatch["name"]
): ReadonlyArray<ReadonlyArray<A>> =>
  unit === "questions" ? Array.chunksOf(groups, size).map(Array.flatten) : Array.chunksOf(Array.flatten(groups), size)

/**
 * The mini-batch as training data: one datum for each segment of a trajectory, so that each action token is trained in the
 * context that it was sampled in. It carries the advantage of its trajectory, or of its turn, and its share of the loss: with
 * `sequence-mean` 1 / (trajectories of the mini-batch × action tokens of its trajectory), with `token-mean` 1 / action tokens
 * of the mini-batch, and with `sequence-sum` 1 / (trajectories of the mini-batch × `tokens`). Observation tokens carry 0 for
 * both.
 *
 * Throws `InvalidInput` unless every token has a log-probability and a mask. What cannot change the policy is left out but
 * counted in the shares: segments without action tokens, and trajectories of advantage 0 without a KL term.
 */
export const datums = (
  miniBatch: ReadonlyArray<Scored>,
  options: Pick<TrainConfig, "normalization" | "kl"> & {
    readonly surrogate?: Losses.Interface
  }
): ReadonlyArray<Datum> => {
  for (const { trajectory } of miniBatch) assertParallel(trajectory)
  const counts = miniBatch.map(({ trajectory }) => Trajectory.actionTokens(Trajectory.segments(trajectory)))
  const allActions = counts.reduce((sum, count) => sum + count, 0)
  const { kl, normalization, surrogate } = options
  const rewardsAlone = klCoefficient(kl) === 0 && (surrogate === undefined || !Losses.pulls(surrogate))
  return Array.zip(miniBatch, counts).flatMap(([scored, actions]) => {
    const { advantage, tokens, trajectory, turns } = scored
    if ((tokens ?? turns ?? [advantage]).every((value) => value === 0) && rewardsAlone) return []
    const weight = shareOf(normalization, { actions, allActions, trajectories: miniBatch.length })
    const segments = Trajectory.segments(trajectory)
    return segments.flatMap((segment, index) =>
      Trajectory.actionTokens([segment]) === 0
        ? []
        : [
            {
              prompt: segment.prompt,
              response: segment.response,
              logprobs: segment.logprobs,
              advantages: advantagesIn(segment, segments.slice(0, index), scored),
              weights: segment.mask.map((isAction) => (isAction === 1 ? weight : 0))
            }
          ]
    )
  })
}

/** The advantages of the tokens of a segment, which the `earlier` ones come before. */
const advantagesIn = (
  { mask }: Trajectory.Segment,
  earlier: ReadonlyArray<Trajectory.Segment>,
  { advantage, tokens, turns }: Scored
): ReadonlyArray<number> => {
  if (turns !== undefined) return Credits.toTokens(mask, turns.slice(turnsIn(earlier)))
  const own = tokens?.slice(Trajectory.actionTokens(earlier)).values()
  return mask.map((isAction) => (isAction === 1 ? (own === undefined ? advantage : (own.next().value ?? 0)) : 0))
}

const shareOf = (
  normalization: TrainConfig["normalization"],
  count: { readonly trajectories: number; readonly actions: number; readonly allActions: number }
): number => {
  switch (normalization.name) {
    case "sequence-mean":
      return 1 / (count.trajectories * count.actions)
    case "token-mean":
      return 1 / count.allActions
    case "sequence-sum":
      return 1 / (count.trajectories * normalization.tokens)
  }
}

/** The turns of segments: the runs of action tokens, each of which ends with its segment. */
const turnsIn = (segments: ReadonlyArray<Trajectory.Segment>): number =>
  segments.reduce(
    (sum, { mask }) => sum + mask.filter((isAction, at) => isAction === 1 && mask[at - 1] !== 1).length,
    0
  )

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
 * without those that cannot change the policy. Trajectories that are not kept are in no mini-batch. The log-probabilities
 * are those of sampling throughout. `key` names the step; each request's key adds its place, so it is the same when the step
 * is repeated. With `levels` the trajectories of a question are one group under any instructions, else those of an
 * instruction and question. With `kl` in the advantages, the caller must add the penalty with {@link foldKl}. An estimator
 * and a surrogate of your own take the places of those of the config.
 */
export const trainRequests = (
  trajectories: ReadonlyArray<Sampled>,
  config: TrainConfig,
  step: Step
): ReadonlyArray<TrainRequest> => {
  const gather = step.levels === undefined ? groups : sharedGroups
  const scored = scoreAll(gather(trajectories), step.estimator ?? config.advantage, step.levels)
  const surrogate = step.surrogate ?? Losses.make(config.loss)
  const kept = keptOf(creditedAll(scored, config.credit, step.turnsOf), config.keep, step.levels)
  const { epochs, name, size } = config.miniBatch
  const batches = miniBatches(kept, size, name).map((miniBatch) => datums(miniBatch, { ...config, surrogate }))
  return Array.flatten(Array.replicate(batches, epochs)).flatMap((batch, index) =>
    batch.length === 0
      ? []
      : [request(batch, config, surrogate, { key: `${step.key}/${index}`, learningRate: step.learningRate })]
  )
}

/** A step, and what it has beside its settings. */
export interface Step {
  readonly key: string
  readonly learningRate: number
  readonly levels?: Levels
  /** What rules of credit read of the turns of a trajectory, in order. */
  readonly turnsOf?: TurnsOf
  readonly estimator?: Advantage.Interface
  readonly surrogate?: Losses.Interface
}

export type TurnsOf = (trajectory: Sampled) => ReadonlyArray<Credits.Turn>

/** The groups of a step with the advantages of turns or tokens by a rule of credit. */
const creditedAll = (
  groups: ReadonlyArray<ReadonlyArray<Scored>>,
  kind: Credits.Credit,
  turnsOf?: TurnsOf
): ReadonlyArray<ReadonlyArray<Scored>> => {
  if (Credits.named(kind).isOfTokens !== true) return groups.map((group) => credited(group, kind, turnsOf))
  const all = credited(groups.flat(), kind, turnsOf).values()
  return groups.map((group) => group.map((scored) => all.next().value ?? scored))
}

/** Rollouts with the advantages by a rule of credit. */
const credited = (group: ReadonlyArray<Scored>, kind: Credits.Credit, turnsOf?: TurnsOf): ReadonlyArray<Scored> => {
  if (kind.name === "outcome") return group
  const { name: _, ...constants } = kind
  const rule = Credits.named(kind)
  const values = rule.of(
    group.map(({ advantage, trajectory }) => {
      const known = turnsOf?.(trajectory) ?? []
      // `makeBy` makes at least one.
      const runs = Array.range(0, turnsIn(Trajectory.segments(trajectory))).slice(0, -1)
      const turns = runs.map((turn) => known[turn] ?? known.at(-1) ?? {})
      return { reward: trajectory.reward, advantage, turns }
    }),
    constants
  )
  const by = rule.isOfTokens === true ? "tokens" : "turns"
  return Array.zipWith(group, values, (scored, own) => ({ ...scored, [by]: own }))
}

/** Groups differ by what is above the levels of their instructions, where these share them. */
const keptOf = (
  groups: ReadonlyArray<ReadonlyArray<Scored>>,
  kind: Keeps.Keep,
  levels?: Levels
): ReadonlyArray<ReadonlyArray<Scored>> => {
  if (kind.name === "all") return groups
  const { name: _, ...constants } = kind
  const chosen = Keeps.named(kind).of(
    groups.map((group) =>
      group.map(({ advantage, trajectory }) => ({
        reward: kind.name === "differing" ? aboveLevel(trajectory, levels) : trajectory.reward,
        advantage,
        truncated: ["context-exhausted", "turns-exhausted"].includes(trajectory.finishReason ?? "")
      }))
    ),
    constants
  )
  return Array.zipWith(groups, chosen, (group, isKept) => group.filter((_, member) => isKept[member] === true)).filter(
    Array.isReadonlyArrayNonEmpty
  )
}

const request = (
  batch: ReadonlyArray<Datum>,
  { kl, optimizer }: TrainConfig,
  { clip }: Losses.Interface,
  update: { readonly key: string; readonly learningRate: number }
): TrainRequest => ({
  key: update.key,
  datums: batch,
  loss: {
    clipRatio: clip?.low ?? Weighing.clipRatio,
    ...(clip === null || clip.high === clip.low ? {} : { clipHigh: clip.high }),
    klCoefficient: kl.name === "loss" ? kl.coefficient : 0
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
