import type { Request } from "./Connection.ts"
import { jsonBody } from "./Transport.ts"

export interface Model {
  readonly id: string
  /** Of the last request sent; 0 for a model that nothing was done to. */
  sequence: number
  /** The sampling session of the present weights, if one was asked for. */
  sampler: Sampler | null
}

export interface Sampler {
  readonly id: string
  requests: number
}

/** A request without a number; it may be sent again unless another value is given. */
export const post = (path: string, body: object, repeatable = true): Request => ({
  path,
  body: jsonBody(body),
  repeatable
})

/** A request of a model, under its next number. */
export const next = (model: Model, path: string, body: object, repeatable: boolean): Request =>
  post(path, { model_id: model.id, seq_id: ++model.sequence, ...body }, repeatable)
