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
  /** Where the target is not the next token of the input; no such position counts. */
  readonly strays: ReadonlyArray<{ readonly index: number; readonly token: number }>
}

/** What a loss makes of one token. */
export interface TokenLoss {
  readonly loss: number
  /** The datum's entries that give the same gradient in the clipped surrogate. */
  readonly logprob: number
  readonly advantage: number
}

export interface Loss {
  /** ε of the clipped surrogate, or null where its datums are made for the log-probabilities now, so that no ratio leaves 1. */
  readonly clipRatio: number | null
  /** The loss of a token of log-probability `logprob` now, `old` then. */
  readonly token: (logprob: number, old: number, advantage: number) => TokenLoss
}

/** Reads a datum; `at` names it. */
export const target = Effect.fnUntraced(function* (
  datum: Wire.Datum,
  loss: Wire.LossName,
  at: string,
  vocabulary: number
): Effect.fn.Return<Target, Refusal> {
  const input = datum.model_input.chunks.flatMap(({ tokens }) => tokens)
  const foreign = (tokens: ReadonlyArray<number>) =>
    tokens.findIndex((token) => !(Number.isInteger(token) && token >= 0 && token < vocabulary))
  const stranger = foreign(input)
  if (stranger >= 0)
    return yield* refuse(
      `${at}.model_input[${stranger}] is ${input[stranger]}, expected tokens of 0 to ${vocabulary - 1}`
    )
  const [first] = input
  if (first === undefined) return yield* refuse(`${at}.model_input is empty, expected at least one token`)

  const isCrossEntropy = loss === "cross_entropy"
  const taken = ["target_tokens", "weights", "mask", ...(isCrossEntropy ? [] : ["logprobs", "advantages"])]
  const unknown = Object.keys(datum.loss_fn_inputs).find((name) => !taken.includes(name))
  if (unknown !== undefined)
    return yield* refuse(`${at}.loss_fn_inputs.${unknown} is given, expected only ${taken.join(", ")} with ${loss}`)

  const read = Effect.fnUntraced(function* (
    name: string
  ): Effect.fn.Return<ReadonlyArray<number> | undefined, Refusal> {
    const tensor = datum.loss_fn_inputs[name]
    if (tensor === undefined) return undefined
    const where = `${at}.loss_fn_inputs.${name}`
    const { data, shape = null, sparse_col_indices: columns = null, sparse_crow_indices: rows = null } = tensor
    if (rows !== null || columns !== null) return yield* refuse(`${where} is sparse, expected a dense tensor`)
    if (data.length !== input.length)
      return yield* refuse(`${where} holds ${data.length} values, expected ${input.length}, one per input token`)
    if (shape !== null && (shape.length !== 1 || shape[0] !== data.length))
      return yield* refuse(`${where}.shape is [${shape.join(", ")}], expected [${data.length}]`)
    const stray = data.findIndex((value) => !Number.isFinite(value))
    if (stray >= 0) return yield* refuse(`${where}[${stray}] is ${data[stray]}, expected a finite number`)
    return data
  })
  const required = Effect.fnUntraced(function* (name: string) {
    return (yield* read(name)) ?? (yield* refuse(`${at}.loss_fn_inputs.${name} is missing, ${loss} needs it`))
  })

  const targets = yield* required("target_tokens")
  const misfit = foreign(targets)
  if (misfit >= 0)
    return yield* refuse(
      `${at}.loss_fn_inputs.target_tokens[${misfit}] is ${targets[misfit]}, expected tokens of 0 to ${vocabulary - 1}`
    )
  const none = input.map(() => 0)
  const logprobs = isCrossEntropy ? none : yield* required("logprobs")
  const advantages = isCrossEntropy ? input.map(() => 1) : yield* required("advantages")
  const [shares, mask] = [yield* read("weights"), yield* read("mask")]
  if (shares !== undefined && mask !== undefined)
    return yield* refuse(`${at}.loss_fn_inputs holds weights and mask, expected one of them`)
  const weights =
    shares ??
    mask ??
    (isCrossEntropy
      ? yield* required("weights")
      : input.map((_, index) => (advantages[index] !== 0 || logprobs[index] !== 0 ? 1 : 0)))

  const strays = targets.flatMap((token, index) =>
    index + 1 < input.length && token !== input[index + 1] ? [{ index, token }] : []
  )
  const counted = strays.find(({ index }) => weights[index] !== 0)
  if (counted !== undefined)
    return yield* refuse(
      `${at}.loss_fn_inputs.target_tokens[${counted.index}] is ${counted.token}, expected ${input[counted.index + 1]}: the ` +
        "input moved by one wherever the weight is not 0"
    )

  const skipped = Math.max(
    0,
    weights.findIndex((weight) => weight !== 0)
  )
  return {
    prompt: input.slice(0, skipped + 1),
    response: [...input.slice(skipped + 1), targets.at(-1) ?? first],
    weights: weights.slice(skipped),
    logprobs: logprobs.slice(skipped),
    advantages: advantages.slice(skipped),
    strays
  }
})

/** Reads a loss and its config. */
export const loss = Effect.fnUntraced(function* ({
  loss_fn,
  loss_fn_config
}: Wire.LossInput): Effect.fn.Return<Loss, Refusal> {
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
      return { clipRatio: null, token: (logprob) => ({ loss: -logprob, logprob, advantage: 1 }) }
    case "importance_sampling":
      return surrogate(Infinity)
    case "ppo": {
      const { high, low } = yield* bounds([0.8, 1.2])
      return Math.abs(low + high - 2) < 1e-6 && high >= 1 ? surrogate(1 - low) : clipped(low, high)
    }
    case "cispo": {
      const { high, low } = yield* bounds([0, 4])
      return {
        clipRatio: null,
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
        clipRatio: null,
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

/** What each loss can be told. */
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

/** The surrogate with bounds of its own on each side, which has the gradient of ratio × advantage where nothing is clipped. */
const clipped = (low: number, high: number): Loss => ({
  clipRatio: null,
  token: (logprob, old, advantage) => {
    const ratio = Math.exp(logprob - old)
    const bounded = Math.min(Math.max(ratio, low), high) * advantage
    const free = ratio * advantage
    return { loss: -Math.min(free, bounded), logprob, advantage: free <= bounded ? free : 0 }
  }
})
