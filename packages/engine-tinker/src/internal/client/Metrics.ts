import { Invariant } from "@inspo/domain"
import type { TrainMetrics, TrainRequest } from "@inspo/engine"
import { Result, Schema } from "effect"

type Numbers = Readonly<Record<string, number>>

/** The metrics of a step as our own server reports them; null for others. */
export const fromServer = (metrics: Numbers): TrainMetrics | null => {
  const read = decode(metrics)
  if (Result.isFailure(read)) return null
  const own = read.success
  return {
    loss: own["inspo.ai/loss"],
    kl: own["inspo.ai/kl"],
    clipFraction: own["inspo.ai/clip_fraction"],
    gradientNorm: own["inspo.ai/gradient_norm"],
    tokens: own["inspo.ai/tokens"]
  }
}

/** The metrics of a step from the log-probabilities before it; the gradient's norm is 0 where the server does not say it. */
export const compute = (
  { datums, loss: { clipRatio, clipHigh = clipRatio } }: TrainRequest,
  logprobs: ReadonlyArray<ReadonlyArray<number>>,
  stepMetrics: Numbers
): TrainMetrics => {
  const counted = datums.filter(({ weights }) => weights.some((weight) => weight !== 0))
  let loss = 0
  let clipped = 0
  let tokens = 0
  for (const [index, datum] of counted.entries()) {
    const now = Invariant.at(logprobs, index, "log-probabilities of datum").slice(-datum.response.length)
    for (const [at, weight] of datum.weights.entries()) {
      if (weight === 0) continue
      const advantage = Invariant.at(datum.advantages, at, "advantage")
      const ratio = Math.exp(
        Invariant.at(now, at, "log-probability") - Invariant.at(datum.logprobs, at, "old log-probability")
      )
      const bounded = Math.min(Math.max(ratio, 1 - clipRatio), 1 + clipHigh)
      tokens += 1
      if (bounded * advantage < ratio * advantage) clipped += 1
      loss -= weight * Math.min(ratio * advantage, bounded * advantage)
    }
  }
  return {
    loss,
    kl: 0,
    clipFraction: tokens === 0 ? 0 : clipped / tokens,
    gradientNorm: gradientNorm(stepMetrics) ?? 0,
    tokens
  }
}

/** The gradient's norm, where a server reports it. */
export const gradientNorm = (metrics: Numbers): number | undefined =>
  Object.entries(metrics).find(([name]) => /grad(?:ient)?_norm/u.test(name))?.[1]

const decode = Schema.decodeUnknownResult(
  Schema.Struct({
    "inspo.ai/loss": Schema.Finite,
    "inspo.ai/kl": Schema.Finite,
    "inspo.ai/clip_fraction": Schema.Finite,
    "inspo.ai/gradient_norm": Schema.Finite,
    "inspo.ai/tokens": Schema.Int
  })
)
