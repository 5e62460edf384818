import { create, fromBinary, type Message, toBinary } from "@bufbuild/protobuf"
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire"
import { Result, Schema } from "effect"
import {
  type ArrayRecord,
  type BatchedTensor,
  type Chunk,
  type Datum,
  ForwardBackwardOutputSchema,
  ForwardBackwardRequestSchema,
  type LossConfigValue,
  SampleResponseSchema,
  type Tensor
} from "./generated/tinker_pb.ts"
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
  toBinary(
    ForwardBackwardRequestSchema,
    create(ForwardBackwardRequestSchema, {
      modelId: request.modelId,
      seqId: request.seqId,
      lossFn: request.input.loss_fn,
      lossFnConfig: { ...request.input.loss_fn_config },
      forwardOnly: request.forwardOnly,
      data: request.input.data.map((datum) => ({
        modelInput: datum.model_input.chunks.map(({ tokens }) => ({
          chunk: { case: "encodedText" as const, value: { tokens: int32Bytes(tokens) } }
        })),
        lossFnInputs: mapValues(datum.loss_fn_inputs, ({ data, dtype, shape }) => ({
          encoding: { case: "dense" as const, value: dtype === "int64" ? int64Bytes(data) : float32Bytes(data) },
          dtype: dtypes[dtype],
          shape: (shape ?? [data.length]).map(BigInt)
        }))
      }))
    })
  )

/**
 * The loss name and its config are left as they are sent: whether they make sense is for the reader to say. Fields that are
 * not known are refused, and so are bytes that hold more than `most` elements, of which an empty one takes two bytes.
 */
export const decodeForwardBackward = (
  bytes: Uint8Array,
  most = Infinity
): Result.Result<Omit<ForwardBackward, "input"> & { readonly input: SentInput }, ProtobufError> =>
  attempt(() => {
    if (countElements(bytes, "request", most) > most) throw new RangeError(`more than ${most} elements, expected fewer`)
    const request = fromBinary(ForwardBackwardRequestSchema, bytes)
    refuseUnknown(request)
    return {
      modelId: request.modelId,
      seqId: request.seqId,
      forwardOnly: request.forwardOnly,
      input: {
        data: request.data.map(readDatum),
        loss_fn: request.lossFn,
        loss_fn_config: { ...request.lossFnConfig, ...mapValues(request.lossFnConfigV2, readSetting) }
      }
    }
  })

export const encodeSampleResponse = (response: Wire.SampleResponse): Uint8Array<ArrayBuffer> =>
  toBinary(
    SampleResponseSchema,
    create(SampleResponseSchema, {
      sequences: response.sequences.map(({ logprobs, stop_reason, tokens }) => ({
        stopReason: stop_reason === "stop" ? stop : length,
        tokens: int32Bytes(tokens),
        ...(logprobs === null || logprobs === undefined ? {} : { logprobs: float32Bytes(logprobs) })
      })),
      ...(response.prompt_logprobs === null || response.prompt_logprobs === undefined
        ? {}
        : { promptLogprobs: float32Bytes(response.prompt_logprobs.map((value) => value ?? NaN)) })
    })
  )

export const decodeSampleResponse = (bytes: Uint8Array): Result.Result<Wire.SampleResponse, ProtobufError> =>
  attempt(() => {
    const response = fromBinary(SampleResponseSchema, bytes)
    return {
      sequences: response.sequences.map(({ logprobs, stopReason, tokens }) => ({
        stop_reason: stopReason === stop ? ("stop" as const) : ("length" as const),
        tokens: int32s(tokens),
        ...(logprobs === undefined ? {} : { logprobs: float32s(logprobs) })
      })),
      ...(response.promptLogprobs === undefined
        ? {}
        : {
            prompt_logprobs: float32s(response.promptLogprobs).map((value) => (Number.isNaN(value) ? null : value))
          })
    }
  })

export const encodeForwardBackwardOutput = (output: Wire.ForwardBackwardOutput): Uint8Array<ArrayBuffer> => {
  const names = Object.keys(output.loss_fn_outputs[0] ?? {})
  return toBinary(
    ForwardBackwardOutputSchema,
    create(ForwardBackwardOutputSchema, {
      lossFnOutputType: output.loss_fn_output_type,
      metrics: { ...output.metrics },
      lossFnOutputs: [
        {
          typeTag: output.loss_fn_output_type,
          numDatums: BigInt(output.loss_fn_outputs.length),
          fields: Object.fromEntries(
            names.map((name) => [name, encodeRows(output.loss_fn_outputs.map((datum) => datum[name]?.data ?? []))])
          )
        }
      ]
    })
  )
}

/** Rows of numbers after one another, with the bytes at which each begins and the last ends. */
const encodeRows = (rows: ReadonlyArray<ReadonlyArray<number>>) => {
  const values = new Float32Array(rows.reduce((total, row) => total + row.length, 0))
  const offsets = [0]
  let end = 0
  for (const row of rows) {
    values.set(row, end)
    end += row.length
    offsets.push(4 * end)
  }
  return { data: new Uint8Array(values.buffer), offsets: int64Bytes(offsets), dtype: dtypes.float32 }
}

export const decodeForwardBackwardOutput = (
  bytes: Uint8Array
): Result.Result<Wire.ForwardBackwardOutput, ProtobufError> =>
  attempt(() => {
    const output = fromBinary(ForwardBackwardOutputSchema, bytes)
    return {
      loss_fn_output_type: output.lossFnOutputType,
      loss_fn_outputs: output.lossFnOutputs.flatMap(readRecord),
      metrics: output.metrics
    }
  })

// Numbers of the enums DType and StopReason.
const dtypes = { float32: 1, int64: 2, int32: 3, bfloat16: 4 } as const
const [stop, length] = [0, 1]

const attempt = <A>(read: () => A): Result.Result<A, ProtobufError> =>
  Result.try({
    try: read,
    catch: (error) => new ProtobufError({ reason: error instanceof Error ? error.message : String(error) })
  })

/** Where elements are in a request whose number its bytes bound alone. */
const elements = {
  request: { 3: "datum", 5: "leaf", 7: "leaf" },
  datum: { 1: "leaf", 2: "input", 3: "leaf", 4: "leaf" },
  input: { 2: "tensor" },
  tensor: { 4: "numbers" }
} as const
type Kind = keyof typeof elements

/** How many elements there are, counted until they are more than `most`. */
const countElements = (bytes: Uint8Array, kind: Kind, most: number): number => {
  const nested: Readonly<Record<number, Kind | "leaf" | "numbers">> = elements[kind]
  const reader = new BinaryReader(bytes)
  let count = 0
  while (reader.pos < reader.len && count <= most) {
    const [field, wireType] = reader.tag()
    const within = nested[field]
    count += 1
    if (within === undefined || wireType !== WireType.LengthDelimited) reader.skip(wireType, field)
    else {
      const content = reader.bytes()
      if (within === "numbers") count += content.length
      else if (within !== "leaf") count += countElements(content, within, most - count)
    }
  }
  return count
}

const refuseUnknown = ({ $typeName, $unknown = [] }: Message): void => {
  const [field] = $unknown
  if (field === undefined) return
  throw new RangeError(`field ${field.no} of ${$typeName} is not known here, expected only what this server can honour`)
}

const readSetting = ({ value }: LossConfigValue): number | string => {
  if (value.case === undefined) throw new RangeError("a setting of loss_fn_config is empty, expected a number")
  return value.value
}

const readDatum = (datum: Datum): Wire.Datum => {
  refuseUnknown(datum)
  return {
    model_input: { chunks: datum.modelInput.map(readChunk) },
    loss_fn_inputs: mapValues(datum.lossFnInputs, readTensor)
  }
}

const readChunk = (message: Chunk) => {
  refuseUnknown(message)
  const { chunk } = message
  if (chunk.case !== "encodedText") throw new RangeError(`a chunk is ${chunk.case ?? "empty"}, expected encoded_text`)
  return { type: "encoded_text" as const, tokens: int32s(chunk.value.tokens) }
}

const readTensor = (tensor: Tensor): Wire.TensorData => {
  refuseUnknown(tensor)
  if (tensor.encoding.case !== "dense") throw new RangeError("a tensor is sparse, expected a dense one")
  return { ...readValues(tensor.encoding.value, tensor.dtype), shape: tensor.shape.map(Number) }
}

const readRecord = ({ fields, numDatums }: ArrayRecord): ReadonlyArray<Record<string, Wire.TensorData>> => {
  const columns = Object.entries(fields).map(([name, field]) => ({ name, rows: readRows(field, Number(numDatums)) }))
  return Array.from({ length: Number(numDatums) }, (_, index) =>
    Object.fromEntries(columns.map(({ name, rows }) => [name, rows[index] ?? { data: [], dtype: "float32" as const }]))
  )
}

const readRows = (field: BatchedTensor, count: number): ReadonlyArray<Wire.TensorData> => {
  const offsets = int64s(field.offsets)
  if (offsets.length !== count + 1) throw new RangeError(`${offsets.length} offsets of ${count} datums`)
  return Array.from({ length: count }, (_, index) => {
    const row = readValues(field.data.subarray(offsets[index], offsets[index + 1]), field.dtype)
    const trailing = field.trailingShape.map(Number)
    const width = trailing.reduce((size, side) => size * side, 1)
    return { ...row, shape: [row.data.length / width, ...trailing] }
  })
}

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

const int32s = (bytes: Uint8Array): ReadonlyArray<number> => list(new Int32Array(aligned(bytes, 4)))
const float32s = (bytes: Uint8Array): ReadonlyArray<number> => list(new Float32Array(aligned(bytes, 4)))

const int64s = (bytes: Uint8Array): ReadonlyArray<number> => {
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

const mapValues = <A, B>(values: Readonly<Record<string, A>>, use: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, use(value)]))
