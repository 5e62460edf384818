import type { Sequence } from "@inspo/engine"
import { Effect } from "effect"
import type * as Wire from "../../Wire.ts"
import { type Refusal, refuse } from "./Refusal.ts"
import { tokensOf } from "./SampleRequests.ts"

/** A datum of the protocol as prompt and response: what comes after the first token that counts is the response. */
export interface Target extends Sequence {
  readonly weights: ReadonlyArray<number>
  readonly logprobs: ReadonlyArray<number>
  readonly advantages: ReadonlyArray<number>
  /** Where the target is not the next token of the input; no such position counts. */
  readonly strays: ReadonlyArray<{ readonly index: number; readonly token: number }>
}

/** Reads a datum; `at` names it. */
export const read = Effect.fnUntraced(function* (
  datum: Wire.Datum,
  loss: Wire.LossName,
  at: string,
  vocabulary: number
): Effect.fn.Return<Target, Refusal> {
  const input = tokensOf(datum.model_input)
  yield* checkTokens(`${at}.model_input`, input, vocabulary)
  const [first] = input
  if (first === undefined) return yield* refuse(`${at}.model_input is empty, expected at least one token`)
  const { advantages, logprobs, targets, weights } = yield* readInputs(datum, loss, at, input.length, vocabulary)

  const strays: Array<Target["strays"][number]> = []
  for (let index = 0; index + 1 < input.length; index++) {
    const token = targets[index]
    if (token !== undefined && token !== input[index + 1]) strays.push({ index, token })
  }
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
    response: input.slice(skipped + 1).concat(targets.at(-1) ?? first),
    weights: weights.slice(skipped),
    logprobs: logprobs.slice(skipped),
    advantages: advantages.slice(skipped),
    strays
  }
})

const checkTokens = (
  where: string,
  tokens: ReadonlyArray<number>,
  vocabulary: number
): Effect.Effect<void, Refusal> => {
  const foreign = tokens.findIndex((token) => !(Number.isInteger(token) && token >= 0 && token < vocabulary))
  return foreign < 0
    ? Effect.void
    : Effect.fail(refuse(`${where}[${foreign}] is ${tokens[foreign]}, expected tokens of 0 to ${vocabulary - 1}`))
}

/** What a loss needs of each input token; cross-entropy is of weights alone, each other loss gives its own where none are sent. */
const readInputs = Effect.fnUntraced(function* (
  datum: Wire.Datum,
  loss: Wire.LossName,
  at: string,
  length: number,
  vocabulary: number
) {
  const isCrossEntropy = loss === "cross_entropy"
  const taken = ["target_tokens", "weights", "mask", ...(isCrossEntropy ? [] : ["logprobs", "advantages"])]
  const unknown = Object.keys(datum.loss_fn_inputs).find((name) => !taken.includes(name))
  if (unknown !== undefined)
    return yield* refuse(`${at}.loss_fn_inputs.${unknown} is given, expected only ${taken.join(", ")} with ${loss}`)

  const optional = (name: string) => readTensor(datum, name, at, length)
  const required = Effect.fnUntraced(function* (name: string) {
    return (yield* optional(name)) ?? (yield* refuse(`${at}.loss_fn_inputs.${name} is missing, ${loss} needs it`))
  })
  const constant = (value: number) => Array.from({ length }, () => value)

  const targets = yield* required("target_tokens")
  yield* checkTokens(`${at}.loss_fn_inputs.target_tokens`, targets, vocabulary)
  const logprobs = isCrossEntropy ? constant(0) : yield* required("logprobs")
  const advantages = isCrossEntropy ? constant(1) : yield* required("advantages")
  const [shares, mask] = [yield* optional("weights"), yield* optional("mask")]
  if (shares !== undefined && mask !== undefined)
    return yield* refuse(`${at}.loss_fn_inputs holds weights and mask, expected one of them`)
  const weights =
    shares ??
    mask ??
    (isCrossEntropy
      ? yield* required("weights")
      : targets.map((_, index) => (advantages[index] !== 0 || logprobs[index] !== 0 ? 1 : 0)))
  return { targets, logprobs, advantages, weights }
})

/** The values of one tensor, of which there is one per input token; undefined where it was not sent. */
const readTensor = Effect.fnUntraced(function* (
  datum: Wire.Datum,
  name: string,
  at: string,
  length: number
): Effect.fn.Return<ReadonlyArray<number> | undefined, Refusal> {
  const tensor = datum.loss_fn_inputs[name]
  if (tensor === undefined) return undefined
  const where = `${at}.loss_fn_inputs.${name}`
  const { data, shape = null, sparse_col_indices: columns = null, sparse_crow_indices: rows = null } = tensor
  if (rows !== null || columns !== null) return yield* refuse(`${where} is sparse, expected a dense tensor`)
  if (data.length !== length)
    return yield* refuse(`${where} holds ${data.length} values, expected ${length}, one per input token`)
  if (shape !== null && (shape.length !== 1 || shape[0] !== data.length))
    return yield* refuse(`${where}.shape is [${shape.join(", ")}], expected [${data.length}]`)
  const stray = data.findIndex((value) => !Number.isFinite(value))
  if (stray >= 0) return yield* refuse(`${where}[${stray}] is ${data[stray]}, expected a finite number`)
  return data
})
