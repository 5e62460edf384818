import { PlainText } from "@inspo/domain"
import { Duration, Option, Result, Schema } from "effect"
import type { Headers } from "effect/http"
import * as Protobuf from "../../Protobuf.ts"
import * as Wire from "../../Wire.ts"

/** What a server answered, its body unread. */
export interface Reply {
  readonly status: number
  readonly headers: Headers.Headers
  readonly body: Uint8Array
}

/** Reads a result; the failure says what is wrong with it. */
export type Decode<A> = (reply: Reply) => Result.Result<A, string>

export const json = <S extends Schema.ConstraintDecoder<unknown>>(schema: S): Decode<S["Type"]> => {
  const decode = Schema.decodeUnknownResult(schema)
  return (reply) =>
    Result.flatMap(parse(reply), (value) => Result.mapError(decode(value), ({ message }) => oneLine(message)))
}

/** Reads protobuf where the server answers in it, else JSON. */
export const either =
  <A>(protobuf: (bytes: Uint8Array) => Result.Result<A, Protobuf.ProtobufError>, otherwise: Decode<A>): Decode<A> =>
  (reply) =>
    isProtobuf(reply) ? Result.mapError(protobuf(reply.body), ({ message }) => message) : otherwise(reply)

/** Takes from a result what is wanted of it; the failure names what is wrong with it. */
export const refine =
  <A, B>(decode: Decode<A>, read: (value: A) => Result.Result<B, string>): Decode<B> =>
  (reply) =>
    Result.flatMap(decode(reply), read)

export const isProtobuf = ({ headers }: Reply): boolean =>
  (headers["content-type"] ?? "").startsWith(Protobuf.contentType)

/** The state of a future. */
export const state = (
  reply: Reply
): { readonly _tag: "Pending" } | { readonly _tag: "Failed"; readonly reason: string } | { readonly _tag: "Done" } => {
  if (isProtobuf(reply)) return { _tag: "Done" }
  const value = Result.getOrElse(parse(reply), () => undefined)
  if (isPending(value)) return { _tag: "Pending" }
  return isFailed(value) ? { _tag: "Failed", reason: oneLine(value.error) } : { _tag: "Done" }
}

/** Whether a status is the server's own word, and not that of a proxy before it. */
export const isExplained = (reply: Reply): boolean => isDetail(Result.getOrElse(parse(reply), () => undefined))

/** How the server explains a status. */
export const detail = (reply: Reply): string => {
  const value = Result.getOrElse(parse(reply), () => undefined)
  const text = isDetail(value) ? value.detail : new TextDecoder().decode(reply.body)
  return oneLine(typeof text === "string" ? text : PlainText.json(text, 500)).slice(0, 500)
}

/** How long the server asks to wait. */
export const retryAfter = ({ headers }: Reply): Option.Option<Duration.Duration> => {
  const milliseconds = Number(headers["retry-after-ms"])
  const seconds = Number(headers["retry-after"])
  if (milliseconds > 0) return Option.some(Duration.millis(milliseconds))
  return seconds > 0 ? Option.some(Duration.seconds(seconds)) : Option.none()
}

const parse = ({ body, headers }: Reply): Result.Result<unknown, string> =>
  Result.try({
    try: (): unknown => JSON.parse(new TextDecoder().decode(body)),
    catch: () => `the body of ${body.length} bytes (${headers["content-type"] ?? "of no type"}) is not JSON`
  })

const isPending = Schema.is(Wire.Pending)
const isFailed = Schema.is(Wire.Failed)
const isDetail = Schema.is(Wire.Detail)

const oneLine = (text: string): string => text.replaceAll(/\s+/gu, " ").trim()
