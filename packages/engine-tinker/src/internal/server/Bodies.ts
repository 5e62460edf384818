import { hash } from "node:crypto"
import { promisify } from "node:util"
import { zstdDecompress } from "node:zlib"
import { PlainText } from "@inspo/domain"
import { Malformed } from "@inspo/http/server"
import { Effect, Result, Schema, type SchemaIssue } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as Protobuf from "../../Protobuf.ts"
import * as Wire from "../../Wire.ts"
import { type Refusal, refuse } from "./Refusal.ts"

/** Samplers of further processes number from 10⁹ times a random number: more than a double can distinguish. */
const longSequence = /("seq_id"\s*:\s*)(\d{16,19})\b/gu

/** The bytes of a body, and their JSON with a `seq_id` of 16 digits or more as a text. */
export const readJson = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, most: number) {
  const bytes = yield* readBytes(request, most)
  return yield* Effect.try({
    try: (): { readonly value: unknown; readonly bytes: Uint8Array } => ({
      value: JSON.parse(utf8.decode(bytes).replaceAll(longSequence, '$1"$2"')),
      bytes
    }),
    catch: () => unreadable("it is not JSON")
  })
})

const utf8 = new TextDecoder()

/** Keys that a schema does not know are refused: what they ask for would be left undone without a word. */
export const decoder = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  unknownKeys: "error" | "ignore" = "error"
) => {
  const decode = Schema.decodeUnknownResult(schema, { onExcessProperty: unknownKeys })
  return (body: unknown): Effect.Effect<S["Type"], Refusal> =>
    Result.match(decode(body), {
      onSuccess: (value) => Effect.succeed(value),
      onFailure: ({ issue }) => Effect.fail(refuse(problem(issue, body)))
    })
}

/** A request for a gradient, which may be protobuf with at most `elements` numbers. */
export const readForwardBackward = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  {
    bodyBytes,
    elements,
    skip
  }: {
    readonly bodyBytes: number
    readonly elements: number
    readonly skip: (body: unknown) => Effect.Effect<void>
  }
) {
  const decode = (value: unknown) => Effect.tapError(decodeForwardBackward(value), () => skip(value))
  const isProtobuf = (request.headers["content-type"] ?? "").startsWith(Protobuf.contentType)
  if (!isProtobuf) {
    const { bytes, value } = yield* readJson(request, bodyBytes)
    return { body: yield* decode(value), digest: digestOf(bytes), forwardOnly: false }
  }
  const bytes = yield* readBytes(request, bodyBytes)
  const message = yield* Effect.mapError(
    Effect.fromResult(Protobuf.decodeForwardBackward(bytes, elements)),
    ({ reason }) => unreadable(reason)
  )
  // Protobuf has types: its datums need no other check of what they are.
  const { data } = message.input
  const read = yield* decode({
    model_id: message.modelId,
    seq_id: message.seqId,
    forward_backward_input: { ...message.input, data: [] }
  })
  const body = { ...read, forward_backward_input: { ...read.forward_backward_input, data } }
  return { body, digest: digestOf(bytes), forwardOnly: message.forwardOnly }
})

const decodeForwardBackward = decoder(Wire.ForwardBackwardRequest)

/** The bytes of a body, of which there are at most `most` before and after decompression. */
const readBytes = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, most: number) {
  const tooLarge = () => refuse(`the body is larger than ${most} bytes, expected fewer, also when decompressed`, 413)
  const encoding = request.headers["content-encoding"] ?? "identity"
  if (encoding !== "identity" && encoding !== "zstd")
    return yield* refuse(`content-encoding is ${encoding.slice(0, 100)}, expected zstd or none`, 415)
  const received = yield* Effect.mapError(request.arrayBuffer, ({ reason }) =>
    reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge" ? tooLarge() : unreadable("it broke off")
  )
  const bytes = new Uint8Array(received)
  if (encoding === "identity") return bytes
  return yield* Effect.tryPromise({
    try: () => decompress(bytes, { maxOutputLength: most }),
    catch: (error) =>
      error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE"
        ? tooLarge()
        : unreadable("not zstd")
  })
})

const decompress = promisify(zstdDecompress)

/** Identifies a body. */
export const digestOf = (body: Uint8Array): string => hash("sha256", body, "base64")

const unreadable = (reason: string) => refuse(`the body cannot be read: ${reason}`)

/** The first fault of a body: its field, the value there, and what was expected. */
const problem = (issue: SchemaIssue.Issue, body: unknown): string => {
  const [{ expected, path }] = Malformed.problems(issue)
  const value = Malformed.valueAt(body, path)
  const text = value === undefined ? "missing" : PlainText.json(value, 120)
  const field = path.length === 0 ? "the body" : Malformed.clipped(path.join("."), 200)
  return `${field} is ${text}, expected ${expected}`
}
