/** Datums that give the clipped loss of an engine the gradient of another loss, or that correct for another sampler. */
import { Invariant } from "@inspo/domain"
import type { EngineProfile, TrainRequest } from "@inspo/engine"
import { Moments } from "@inspo/statistics"
import * as Corrections from "./Corrections.ts"
import type { Interface } from "./Losses.ts"

/** The bound of requests for other losses: their ratios are 1, so that none is clipped. */
export const clipRatio = 0.2

/** Whether an engine has a loss itself: `clip` of one bound, or of two where it takes both. */
export const isOwn = ({ clip }: Pick<Interface, "clip">, { clipHigh }: Pick<EngineProfile, "clipHigh">): boolean =>
  clip !== null && (clip.low === clip.high || clipHigh === true)

/**
 * A request with the gradient of a loss: the log-probabilities of its datums are those `now`, where each ratio is 1, and the
 * advantages are the weights of ∇log π. `clipFraction` is the share of action tokens that lose their advantage.
 */
export const weighed = (
  request: TrainRequest,
  now: ReadonlyArray<ReadonlyArray<number>>,
  { weights }: Pick<Interface, "weights">
): { readonly request: TrainRequest; readonly clipFraction: number } => {
  let [tokens, clipped] = [0, 0]
  const datums = Invariant.zip(request.datums, now, "datums and their log-probabilities").map(([datum, logprobs]) => {
    const { actions, at, turns } = actionsOf(datum.weights)
    const coefficients = weights({
      logprobs: at(logprobs),
      old: at(datum.logprobs),
      advantages: at(datum.advantages),
      turns
    })
    const [ownLogprobs, advantages] = [[...datum.logprobs], [...datum.advantages]]
    tokens += actions.length
    actions.forEach((token, index) => {
      const coefficient = Invariant.at(coefficients, index, "weight")
      if (coefficient === 0 && advantages[token] !== 0) clipped++
      ownLogprobs[token] = Invariant.at(logprobs, token, "log-probability")
      advantages[token] = coefficient
    })
    return { ...datum, logprobs: ownLogprobs, advantages }
  })
  const { clipHigh: _, ...loss } = request.loss
  return {
    request: { ...request, datums, loss: { ...loss, clipRatio } },
    clipFraction: tokens === 0 ? 0 : clipped / tokens
  }
}

/**
 * A request whose log-probabilities are the `trainer`'s before its update, and whose advantages have the factors of a
 * correction. A datum is corrected by itself, so that each segment of a rollout is a sequence of its own.
 */
export const corrected = (
  request: TrainRequest,
  trainer: ReadonlyArray<ReadonlyArray<number>>,
  kind: Corrections.Correction
): TrainRequest => {
  const { name: _, ...constants } = kind
  const { of } = Corrections.named(kind)
  const datums = Invariant.zip(request.datums, trainer, "datums and their log-probabilities").map(
    ([datum, logprobs]) => {
      const { actions, at } = actionsOf(datum.weights)
      const sampled = {
        trainer: at(logprobs),
        sampler: at(datum.logprobs),
        advantage: Moments.mean(at(datum.advantages))
      }
      const advantages = [...datum.advantages]
      of(sampled, constants).forEach((factor, index) => {
        const token = Invariant.at(actions, index, "factor")
        advantages[token] = factor * Invariant.at(advantages, token, "advantage")
      })
      return { ...datum, logprobs, advantages }
    }
  )
  return { ...request, datums }
}

/** The places of action tokens, the turn of each, which is a run of them, and what picks their values. */
const actionsOf = (weights: ReadonlyArray<number>) => {
  const [actions, turns]: [Array<number>, Array<number>] = [[], []]
  for (let token = 0, turn = -1; token < weights.length; token++) {
    if (weights[token] === 0) continue
    if (actions.at(-1) !== token - 1) turn++
    actions.push(token)
    turns.push(turn)
  }
  const at = (values: ReadonlyArray<number>) => actions.map((token) => Invariant.at(values, token, "token"))
  return { actions, turns, at }
}
