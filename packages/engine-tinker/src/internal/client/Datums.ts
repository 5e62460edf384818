import { Invariant } from "@inspo/domain"
import type { Datum, Sequence } from "@inspo/engine"
import type { Profile } from "../../Profile.ts"
import type * as Wire from "../../Wire.ts"

/**
 * The datums of a mini-batch as the server's reduction needs them for the loss Σ weight × surrogate (Eq. 2).
 *
 * Where the server takes shares of the loss, weights travel as they are. Elsewhere the weight joins the advantage, which
 * the surrogate is linear in; a server that averages over the n tokens of a datum and the D datums of a step gets n × D
 * times as much. Datums in which no token counts are left out.
 */
export const training = (datums: ReadonlyArray<Datum>, profile: Profile): ReadonlyArray<Wire.Datum> => {
  const counted = datums.filter(({ weights }) => weights.some((weight) => weight !== 0))
  return counted.map((datum) => {
    const { advantages, logprobs, response, weights } = datum
    const bits = weights.map((weight) => (weight === 0 ? 0 : 1))
    const scale = profile.reduction === "sum" ? 1 : counted.length * bits.filter((bit) => bit === 1).length
    const shares = profile.mask?.values === "shares"
    const folded = shares
      ? advantages
      : Invariant.zip(advantages, weights, "advantages and weights").map(
          ([advantage, weight]) => advantage * weight * scale
        )
    return withInputs(datum, {
      logprobs: logprobs.slice(0, response.length),
      advantages: folded,
      ...(profile.mask === null ? {} : { [profile.mask.name]: shares ? weights : bits })
    })
  })
}

/** What no server could make sense of in a batch: a list that is not parallel to its response, a number that is none. */
export const problem = (datums: ReadonlyArray<Datum>): string | null => {
  for (const [index, datum] of datums.entries()) {
    const { prompt, response } = datum
    if (prompt.length === 0) return `datums[${index}].prompt is empty, expected at least one token`
    for (const name of ["logprobs", "advantages", "weights"] as const) {
      const values = datum[name]
      if (values.length !== response.length)
        return `datums[${index}].${name} holds ${values.length} values, expected ${response.length}, one per response token`
      const at = values.findIndex((value) => !Number.isFinite(value))
      if (at >= 0) return `datums[${index}].${name}[${at}] is ${values[at]}, expected a finite number`
    }
  }
  return null
}

/** Datums that only ask for the log-probabilities of their responses. */
export const scoring = (sequences: ReadonlyArray<Sequence>): ReadonlyArray<Wire.Datum> =>
  sequences.map((sequence) => withInputs(sequence, { weights: sequence.response.map(() => 1) }))

/** Splits datums so that no part holds more than `most` of them or about `bytes` bytes; no part is empty. */
export const chunks = (
  datums: ReadonlyArray<Wire.Datum>,
  limits: { readonly most: number; readonly bytes: number; readonly protobuf: boolean }
): ReadonlyArray<ReadonlyArray<Wire.Datum>> => {
  const parts: Array<Array<Wire.Datum>> = []
  let room = 0
  for (const datum of datums) {
    const part = parts.at(-1)
    const bytes = size(datum, limits.protobuf)
    if (part === undefined || part.length >= limits.most || bytes > room) {
      parts.push([datum])
      room = limits.bytes - bytes
    } else {
      part.push(datum)
      room -= bytes
    }
  }
  return parts
}

/** The values of the response, from one that is parallel to the model input. */
export const ofResponse = (values: ReadonlyArray<number>, { response }: Sequence): ReadonlyArray<number> =>
  values.slice(values.length - response.length)

const withInputs = (
  { prompt, response }: Sequence,
  inputs: Readonly<Record<string, ReadonlyArray<number>>>
): Wire.Datum => {
  const full = prompt.concat(response)
  const padding = prompt.slice(1).fill(0)
  return {
    model_input: { chunks: [{ type: "encoded_text", tokens: full.slice(0, -1) }] },
    loss_fn_inputs: {
      target_tokens: { data: full.slice(1), dtype: "int64", shape: [full.length - 1] },
      ...Object.fromEntries(
        Object.entries(inputs).map(([name, values]) => {
          const data = padding.concat(values)
          return [name, { data, dtype: "float32" as const, shape: [data.length] }]
        })
      )
    }
  }
}

/** An upper bound, given that JSON spends at most 7 characters on a token and 22 on another number. */
const size = ({ loss_fn_inputs, model_input }: Wire.Datum, protobuf: boolean): number => {
  const tokens = model_input.chunks.reduce((total, chunk) => total + chunk.tokens.length, 0)
  const tensors = Object.values(loss_fn_inputs).reduce(
    (total, { data, dtype }) =>
      total + 100 + data.length * (protobuf ? (dtype === "int64" ? 8 : 4) : dtype === "int64" ? 7 : 22),
    0
  )
  return 100 + tokens * (protobuf ? 4 : 7) + tensors
}
