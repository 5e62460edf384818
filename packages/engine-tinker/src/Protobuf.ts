import { Result, Schema } from "effect"
import { entries, type Fields, type Message, packed, read, write } from "@inspo/engine/Protobuf"
import type * as Wire from "./Wire.ts"

/** The media type of protobuf bodies. */
export const contentType = "application/x-protobuf"

/** Bytes that are not the message they should be. */
export class ProtobufError extends Schema.TaggedError<ProtobufError>()("ProtobufError", { reason: Schema.String }) {
  override get message() {
    return `protobuf: ${this.reason}`
  }
}

/** A request for a loss and its gradient, or with `forwardOnly` for the loss alone. */
export interface ForwardBackward {
  readonly modelId: string
  readonly seqId: number
  readonly input: Wire.LossInput
  readonly forwardOnly: boolean
}

/** What a loss is of, and what is sent as its name and config. */
export interface SentInput {
  readonly data: ReadonlyArray<Wire.Datum>
  readonly loss_fn: string
  readonly loss_fn_config: Readonly<Record<string, number | string>>
}

export const encodeForwardBackward = (request: ForwardBackward): Uint8Array<ArrayBuffer> =>
  write({
    1: request.modelId,
    2: request.seqId,
    3: request.input.data.map(fieldsOfDatum),
    4: request.input.loss_fn,
    5: entries(request.input.loss_fn_config ?? {}, (double) => ({ double })),
    6: request.forwardOnly
  })

const fieldsOfDatum = ({ loss_fn_inputs, model_input }: Wire.Datum): Fields => ({
  1: model_input.chunks.map(({ tokens }) => ({ 1: [{ 1: int32Bytes(tokens) }] })),
  2: entries(loss_fn_inputs, ({ data, dtype, shape }) => ({
    1: [dtype === "int64" ? int64Bytes(data) : float32Bytes(data)],
    3: dtypes[dtype],
    4: packed(shape ?? [data.length])
  }))
})

/**
 * The loss name and its config are left as they are sent: whether they make sense is for the reader to say. Fields that are
 * not known are refused, and so are bytes that hold more than `most` elements, of which an empty one takes two bytes.
 */
export const decodeForwardBackward = (
  bytes: Uint8Array,
  most = Infinity
): Result.Result<Omit<ForwardBackward, "input"> & { readonly input: SentInput }, ProtobufError> =>
  attempt(() => {
    const request = read(bytes, { most, left: most })
    refuseOthers("ForwardBackwardRequest", request, [1, 2, 3, 4, 5, 6, 7])
    return {
      modelId: request.text(1),
      seqId: request.integer(2),
      forwardOnly: request.integer(6) !== 0,
      input: {
        data: request.messages(3).map(readDatum),
        loss_fn: request.text(4),
        // Field 5 holds numbers alone.
        loss_fn_config: { ...request.map(5, readDouble), ...request.map(7, readSetting) }
      }
    }
  })

export const encodeSampleResponse = ({ prompt_logprobs, sequences }: Wire.SampleResponse): Uint8Array<ArrayBuffer> =>
  write({
    1: sequences.map(({ logprobs, stop_reason, tokens }) => ({
      1: stop_reason === "stop" ? stop : length,
      2: int32Bytes(tokens),
      3: logprobs === null || logprobs === undefined ? [] : [float32Bytes(logprobs)]
    })),
    2:
      prompt_logprobs === null || prompt_logprobs === undefined
        ? []
        : [float32Bytes(prompt_logprobs.map((value) => value ?? NaN))]
  })

export const decodeSampleResponse = (bytes: Uint8Array): Result.Result<Wire.SampleResponse, ProtobufError> =>
  attempt(() => {
    const response = read(bytes)
    const promptLogprobs = response.bytes(2)
    return {
      sequences: response.messages(1).map((sequence) => {
        const logprobs = sequence.bytes(3)
        return {
          stop_reason: sequence.integer(1) === stop ? ("stop" as const) : ("length" as const),
          tokens: int32s(sequence.bytes(2)),
          ...(logprobs === undefined ? {} : { logprobs: float32s(logprobs) })
        }
      }),
      ...(promptLogprobs === undefined
        ? {}
        : { prompt_logprobs: float32s(promptLogprobs).map((value) => (Number.isNaN(value) ? null : value)) })
    }
  })

export const encodeForwardBackwardOutput = (output: Wire.ForwardBackwardOutput): Uint8Array<ArrayBuffer> => {
  const { loss_fn_output_type: type, loss_fn_outputs: outputs } = output
  const columns = Object.keys(outputs[0] ?? {}).map((name) => [name, outputs.map((datum) => datum[name]?.data ?? [])])
  const record = { 1: type, 2: entries(Object.fromEntries(columns), fieldsOfRows), 3: outputs.length }
  return write({ 1: type, 2: [record], 3: entries(output.metrics, (double) => ({ double })) })
}

/** Rows of numbers after one another, with the bytes at which each begins and the last ends. */
const fieldsOfRows = (rows: ReadonlyArray<ReadonlyArray<number>>): Fields => {
  const values = new Float32Array(rows.reduce((total, row) => total + row.length, 0))
  const offsets = [0]
  let end = 0
  for (const row of rows) {
    values.set(row, end)
    end += row.length
    offsets.push(4 * end)
  }
  return { 1: new Uint8Array(values.buffer), 2: int64Bytes(offsets), 3: dtypes.float32 }
}

export const decodeForwardBackwardOutput = (
  bytes: Uint8Array
): Result.Result<Wire.ForwardBackwardOutput, ProtobufError> =>
  attempt(() => {
    const output = read(bytes)
    return {
      loss_fn_output_type: output.text(1),
      loss_fn_outputs: output.messages(2).flatMap(readRecord),
      metrics: output.map(3, readDouble)
    }
  })

// Numbers of the enums DType and StopReason.
const dtypes = { float32: 1, int64: 2, int32: 3, bfloat16: 4 } as const
const [stop, length] = [0, 1]

const attempt = <A>(decode: () => A): Result.Result<A, ProtobufError> =>
  Result.try({
    try: decode,
    catch: (error) => new ProtobufError({ reason: error instanceof Error ? error.message : String(error) })
  })

const refuseOthers = (name: string, message: Message, known: ReadonlyArray<number>): void => {
  const field = message.other(known)
  if (field !== undefined)
    throw new RangeError(
      `field ${field} of tinker_public.${name} is not known here, expected only what this server can honour`
    )
}

/** The value of an entry of numbers. */
const readDouble = (entry: Message): number => entry.double(2) ?? 0

const readSetting = (entry: Message): number | string => {
  const setting = entry.message(2)
  const number = setting?.double(1)
  if (number !== undefined) return number
  if (setting?.bytes(2) === undefined) throw new RangeError("a setting of loss_fn_config is empty, expected a number")
  return setting.text(2)
}

/** Fields 3 and 4 say where tokens came from: no loss that is served here asks. */
const readDatum = (datum: Message): Wire.Datum => {
  refuseOthers("Datum", datum, [1, 2, 3, 4])
  return { model_input: { chunks: datum.messages(1).map(readChunk) }, loss_fn_inputs: datum.map(2, readTensor) }
}

const readChunk = (chunk: Message) => {
  refuseOthers("Chunk", chunk, [1, 2, 3])
  const text = chunk.message(1)
  if (text === undefined)
    throw new RangeError(
      `a chunk is ${chunk.bytes(2) ? "image" : chunk.bytes(3) ? "dmel" : "empty"}, expected encoded_text`
    )
  return { type: "encoded_text" as const, tokens: int32s(text.bytes(1)) }
}

const readTensor = (entry: Message): Wire.TensorData => {
  const tensor = entry.message(2) ?? read(none)
  refuseOthers("Tensor", tensor, [1, 2, 3, 4])
  const dense = tensor.bytes(1)
  if (dense === undefined) throw new RangeError("a tensor is sparse, expected a dense one")
  return { ...readValues(dense, tensor.integer(3)), shape: tensor.integers(4) }
}

const readRecord = (record: Message): ReadonlyArray<Record<string, Wire.TensorData>> => {
  const count = record.integer(3)
  const columns = Object.entries(record.map(2, (entry) => readRows(entry.message(2) ?? read(none), count)))
  return Array.from({ length: count }, (_, index) =>
    Object.fromEntries(columns.map(([name, rows]) => [name, rows[index] ?? { data: [], dtype: "float32" as const }]))
  )
}

/** The tensors of `count` datums, which are in one buffer. */
const readRows = (rows: Message, count: number): ReadonlyArray<Wire.TensorData> => {
  const [data = none, offsets, trailing] = [rows.bytes(1), int64s(rows.bytes(2)), rows.integers(4)]
  if (offsets.length !== count + 1) throw new RangeError(`${offsets.length} offsets of ${count} datums`)
  const width = trailing.reduce((size, side) => size * side, 1)
  return Array.from({ length: count }, (_, index) => {
    const row = readValues(data.subarray(offsets[index], offsets[index + 1]), rows.integer(3))
    return { ...row, shape: [row.data.length / width, ...trailing] }
  })
}

const none: Uint8Array = new Uint8Array()

const readValues = (bytes: Uint8Array, dtype: number): Pick<Wire.TensorData, "data" | "dtype"> => {
  switch (dtype) {
    case dtypes.float32:
      return { data: float32s(bytes), dtype: "float32" }
    case dtypes.bfloat16:
      return { data: bfloat16s(bytes), dtype: "float32" }
    case dtypes.int64:
      return { data: int64s(bytes), dtype: "int64" }
    case dtypes.int32:
      return { data: int32s(bytes), dtype: "int64" }
    default:
      throw new RangeError(`a tensor has dtype ${dtype}, expected 1 to 4`)
  }
}

const int32Bytes = (values: ReadonlyArray<number>) => new Uint8Array(new Int32Array(values).buffer)
const float32Bytes = (values: ReadonlyArray<number>) => new Uint8Array(new Float32Array(values).buffer)

/** Low and high halves, since a bigint for every number would take most of the time. */
const int64Bytes = (values: ReadonlyArray<number>) => {
  const halves = new Int32Array(2 * values.length)
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? NaN
    halves[2 * at] = value
    halves[2 * at + 1] = Math.floor(value / 2 ** 32)
  }
  return new Uint8Array(halves.buffer)
}

const int32s = (bytes = none): ReadonlyArray<number> => list(new Int32Array(aligned(bytes, 4)))
const float32s = (bytes: Uint8Array): ReadonlyArray<number> => list(new Float32Array(aligned(bytes, 4)))

const int64s = (bytes = none): ReadonlyArray<number> => {
  const halves = new Int32Array(aligned(bytes, 8))
  const values: Array<number> = []
  values.length = halves.length / 2
  for (let at = 0; at < values.length; at++)
    values[at] = (halves[2 * at + 1] ?? 0) * 2 ** 32 + ((halves[2 * at] ?? 0) >>> 0)
  return values
}

/** A bfloat16 is the upper half of a float32. */
const bfloat16s = (bytes: Uint8Array): ReadonlyArray<number> =>
  list(new Float32Array(Uint32Array.from(new Uint16Array(aligned(bytes, 2)), (half) => half << 16).buffer))

/** A tenth of the time of `Array.from`, which asks an iterator for each value, or of a list that grows. */
const list = (values: Int32Array | Float32Array): ReadonlyArray<number> => {
  const copy: Array<number> = []
  copy.length = values.length
  for (let at = 0; at < values.length; at++) copy[at] = values[at] ?? NaN
  return copy
}

/** A copy that begins at a multiple of every element size: a field may begin anywhere in its message. */
const aligned = (bytes: Uint8Array, size: number): ArrayBuffer => {
  if (bytes.length % size !== 0) throw new RangeError(`${bytes.length} bytes are no list of ${size}-byte numbers`)
  return new Uint8Array(bytes).buffer
}
