import type { Datum, Sequence } from "@inspo/engine"
import { Effect } from "effect"
import type * as Wire from "../../Wire.ts"
import { type Refusal, refuse } from "./Refusal.ts"

/**
 * A datum of the protocol as a prompt and a response: what comes after the first token that counts is the response, and
 * all lists are parallel to it.
 */
export interface Target extends Sequence {
  readonly weights: ReadonlyArray<number>
  readonly logprobs: ReadonlyArray<number>
  readonly advantages: ReadonlyArray<number>
}

/** What a loss makes of one token. */
export interface TokenLoss {
  readonly loss: number
  /** The datum's entries that give the same gradient in the clipped surrogate. */
  readonly logprob: number
  readonly advantage: number
}

export interface Loss {
  /** ε of the clipped surrogate, or null where no ratio leaves 1. */
  readonly clipRatio: number | null
  /** The loss of a token of log-probability `logprob` now, `old` then. */
  readonly token: (logprob: number, old: number, advantage: number) => TokenLoss
}

/** Reads a datum; `at` names it. */
export const target = (datum: Wire.Datum, loss: Wire.LossName, at: string): Effect.Effect<Target, Refusal> =>
  Effect.gen(function* () {
    const input = datum.model_input.chunks.flatMap(({ tokens }) => tokens)
    const read = Effect.fnUntraced(function* (name: string) {
      const tensor = datum.loss_fn_inputs[name]
      if (tensor === undefined) return undefined
      if (tensor.sparse_crow_indices !== undefined && tensor.sparse_crow_indices !== null)
        return yield* refuse(`${at}.loss_fn_inputs.${name} is sparse, expected a dense tensor`)
      if (tensor.data.length !== input.length)
        return yield* refuse(
          `${at}.loss_fn_inputs.${name} holds ${tensor.data.length} values, expected ${input.length}, one per input token`
        )
      return tensor.data
    })
    const required = Effect.fnUntraced(function* (name: string) {
      return (yield* read(name)) ?? (yield* refuse(`${at}.loss_fn_inputs.${name} is missing, ${loss} needs it`))
    })

    const targets = yield* required("target_tokens")
    const stray = targets.findIndex((token, index) => index + 1 < input.length && token !== input[index + 1])
    if (stray >= 0)
      return yield* refuse(
        `${at}.loss_fn_inputs.target_tokens[${stray}] is ${targets[stray]}, expected ${input[stray + 1]}: the input moved by one`
      )
    const [first] = input
    if (first === undefined) return yield* refuse(`${at}.model_input is empty, expected at least one token`)

    const none = input.map(() => 0)
    const isCrossEntropy = loss === "cross_entropy"
    const logprobs = isCrossEntropy ? none : yield* required("logprobs")
    const advantages = isCrossEntropy ? input.map(() => 1) : yield* required("advantages")
    const weights =
      (yield* read("weights")) ??
      (yield* read("mask")) ??
      (isCrossEntropy
        ? yield* required("weights")
        : input.map((_, index) => (advantages[index] !== 0 || logprobs[index] !== 0 ? 1 : 0)))

    const skipped = Math.max(
      0,
      weights.findIndex((weight) => weight !== 0)
    )
    return {
      prompt: input.slice(0, skipped + 1),
      response: targets.slice(skipped),
      weights: weights.slice(skipped),
      logprobs: logprobs.slice(skipped),
      advantages: advantages.slice(skipped)
    }
  })

/** Reads a loss and its config. */
export const loss = ({ loss_fn, loss_fn_config }: Wire.LossInput): Effect.Effect<Loss, Refusal> => {
  const setting = (name: string, otherwise: number) => loss_fn_config?.[name] ?? otherwise
  switch (loss_fn) {
    case "cross_entropy":
      return Effect.succeed({
        clipRatio: null,
        token: (logprob) => ({ loss: -logprob, logprob, advantage: 1 })
      })
    case "importance_sampling":
      return Effect.succeed(surrogate(Infinity))
    case "ppo": {
      const [low, high] = [setting("clip_low_threshold", 0.8), setting("clip_high_threshold", 1.2)]
      return Math.abs(low + high - 2) < 1e-6 && high >= 1
        ? Effect.succeed(surrogate(1 - low))
        : Effect.fail(
            refuse(`loss_fn_config clips ratios to ${low} and ${high}, expected bounds equally far below and above 1`)
          )
    }
    case "cispo": {
      const [low, high] = [setting("clip_low_threshold", 0), setting("clip_high_threshold", 4)]
      return Effect.succeed({
        clipRatio: null,
        token: (logprob, old, advantage) => {
          const scaled = Math.min(Math.max(Math.exp(logprob - old), low), high) * advantage
          return { loss: -scaled * logprob, logprob, advantage: scaled }
        }
      })
    }
    case "dro": {
      const beta = setting("beta", 0)
      return Effect.succeed({
        clipRatio: null,
        token: (logprob, old, advantage) => ({
          loss: -(logprob * advantage - 0.5 * beta * (logprob - old) ** 2),
          logprob,
          advantage: advantage - beta * (logprob - old)
        })
      })
    }
  }
}

/** The datum whose clipped surrogate has the gradient of `loss`, and the loss of each token, given the log-probabilities now. */
export const toDatum = (
  target: Target,
  { token }: Loss,
  logprobs: ReadonlyArray<number>
): { readonly datum: Datum; readonly losses: ReadonlyArray<number> } => {
  const tokens = target.response.map((_, index) =>
    token(logprobs[index] ?? NaN, target.logprobs[index] ?? NaN, target.advantages[index] ?? NaN)
  )
  return {
    datum: {
      prompt: target.prompt,
      response: target.response,
      weights: target.weights,
      logprobs: tokens.map(({ logprob }) => logprob),
      advantages: tokens.map(({ advantage }) => advantage)
    },
    losses: tokens.map(({ loss }, index) => (target.weights[index] ?? 0) * loss)
  }
}

const surrogate = (clipRatio: number): Loss => ({
  clipRatio,
  token: (logprob, old, advantage) => {
    const ratio = Math.exp(logprob - old)
    const clipped = Math.min(Math.max(ratio, 1 - clipRatio), 1 + clipRatio)
    return { loss: -Math.min(ratio * advantage, clipped * advantage), logprob: old, advantage }
  }
})
