import type { Datum, EngineProfile, TrainRequest } from "@inspo/engine"
import { Effect } from "effect"
import type * as Wire from "../../Wire.ts"
import { type Refusal, refuse } from "./Refusal.ts"
import type { Target } from "./Target.ts"

/** What a loss makes of one token. */
interface TokenLoss {
  readonly loss: number
  /** The datum's entries that give the same gradient in the clipped surrogate. */
  readonly logprob: number
  readonly advantage: number
}

/** Bounds of ratios as the engine takes them. */
export type Clip = Pick<TrainRequest["loss"], "clipRatio" | "clipHigh">

interface Loss {
  /** Bounds of the engine's surrogate, or null where its datums are made for the log-probabilities now, so that no ratio leaves 1. */
  readonly clip: Clip | null
  /** The loss of a token of log-probability `logprob` now, `old` then. */
  readonly token: (logprob: number, old: number, advantage: number) => TokenLoss
}

/** Reads a loss and its config. */
export const loss = Effect.fnUntraced(function* (
  { loss_fn, loss_fn_config }: Wire.LossInput,
  { clipHigh = false }: Pick<EngineProfile, "clipHigh">
): Effect.fn.Return<Loss, Refusal> {
  const config = loss_fn_config ?? {}
  const known = settings[loss_fn]
  const unknown = Object.keys(config).find((name) => !known.includes(name))
  if (unknown !== undefined)
    return yield* refuse(
      `loss_fn_config.${unknown} is ${config[unknown]}, expected ${known.length === 0 ? "no settings" : `only ${known.join(", ")}`} with ${loss_fn}`
    )
  const bounds = Effect.fnUntraced(function* (otherwise: readonly [low: number, high: number]) {
    const low = config["clip_low_threshold"] ?? otherwise[0]
    const high = config["clip_high_threshold"] ?? otherwise[1]
    if (low >= 0 && high >= low) return { low, high }
    return yield* refuse(
      `loss_fn_config clips ratios to ${low} and ${high}, expected bounds of 0 or more in this order`
    )
  })
  switch (loss_fn) {
    case "cross_entropy":
      return { clip: null, token: (logprob) => ({ loss: -logprob, logprob, advantage: 1 }) }
    case "importance_sampling":
      return surrogate({ clipRatio: Infinity })
    case "ppo": {
      const { high, low } = yield* bounds([0.8, 1.2])
      if (low > 1 || high < 1) return clipped(low, high)
      if (Math.abs(low + high - 2) < 1e-6) return surrogate({ clipRatio: 1 - low })
      return clipHigh ? surrogate({ clipRatio: 1 - low, clipHigh: high - 1 }) : clipped(low, high)
    }
    case "cispo": {
      const { high, low } = yield* bounds([0, 4])
      return {
        clip: null,
        token: (logprob, old, advantage) => {
          const scaled = Math.min(Math.max(Math.exp(logprob - old), low), high) * advantage
          return { loss: -scaled * logprob, logprob, advantage: scaled }
        }
      }
    }
    case "dro": {
      const beta = config["beta"]
      if (beta === undefined) return yield* refuse("loss_fn_config.beta is missing, dro needs it")
      return {
        clip: null,
        token: (logprob, old, advantage) => ({
          loss: -(logprob * advantage - 0.5 * beta * (logprob - old) ** 2),
          logprob,
          advantage: advantage - beta * (logprob - old)
        })
      }
    }
  }
})

const thresholds = ["clip_low_threshold", "clip_high_threshold"]

/** The settings of each loss. */
const settings: Readonly<Record<Wire.LossName, ReadonlyArray<string>>> = {
  cross_entropy: [],
  importance_sampling: [],
  ppo: thresholds,
  cispo: thresholds,
  dro: ["beta"]
}

/** The datum whose clipped surrogate has the gradient of `loss`, and the loss of each token, given the log-probabilities now. */
export const toDatum = (
  target: Target,
  { token }: Loss,
  logprobs: ReadonlyArray<number>
): { readonly datum: Datum; readonly losses: ReadonlyArray<number> } => {
  const { prompt, response, weights } = target
  const [losses, given, advantages]: [Array<number>, Array<number>, Array<number>] = [[], [], []]
  for (let index = 0; index < response.length; index++) {
    const one = token(logprobs[index] ?? NaN, target.logprobs[index] ?? NaN, target.advantages[index] ?? NaN)
    losses.push((weights[index] ?? 0) * one.loss)
    given.push(one.logprob)
    advantages.push(one.advantage)
  }
  return { datum: { prompt, response, weights, logprobs: given, advantages }, losses }
}

const surrogate = (clip: Clip): Loss => ({
  clip,
  token: (logprob, old, advantage) => ({
    loss: clipped(1 - clip.clipRatio, 1 + (clip.clipHigh ?? clip.clipRatio)).token(logprob, old, advantage).loss,
    logprob: old,
    advantage
  })
})

/** The surrogate with bounds of its own on each side, which has the gradient of ratio × advantage where nothing is clipped. */
const clipped = (low: number, high: number): Loss => ({
  clip: null,
  token: (logprob, old, advantage) => {
    const ratio = Math.exp(logprob - old)
    const bounded = Math.min(Math.max(ratio, low), high) * advantage
    const free = ratio * advantage
    return { loss: -Math.min(free, bounded), logprob, advantage: free <= bounded ? free : 0 }
  }
})
