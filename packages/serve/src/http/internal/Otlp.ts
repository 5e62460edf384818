/** Requests of OTLP over HTTP, version 1, in JSON and in protobuf: of spans and log records what names leases and evaluations. */
import { gunzipSync } from "node:zlib"
import * as Protobuf from "@inspo/http/Protobuf"
import { Effect, Schema } from "effect"
import * as Limits from "../../wire/Limits.ts"

/** A span, an event of a span, or a log record, which have names and attributes alike. */
export interface Named {
  readonly name: string
  readonly attributes: Attributes
}

/** Attributes with one value; others are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean>>

/** Ids are those of the trace and the span, in hexadecimal. */
export interface Span extends Named {
  readonly id: string
  /** Null for the first span of a trace. */
  readonly parent: string | null
  readonly events: ReadonlyArray<Named>
}

/** A log record; `id` is that of its span, null without one. */
export interface LogRecord extends Named {
  readonly id: string | null
}

/** The media type of a request, which its answer has too. */
export type Format = "json" | "protobuf"

export const mediaTypes: Readonly<Record<Format, string>> = {
  json: "application/json",
  protobuf: "application/x-protobuf"
}

/** A body that cannot be read, and the format of the answer that says so. */
export class Unreadable extends Schema.TaggedError<Unreadable>()("Unreadable", {
  status: Schema.Int,
  format: Schema.Literals(["json", "protobuf"]),
  message: Schema.String
}) {}

export const formatOf = (contentType = ""): Effect.Effect<Format, Unreadable> => {
  const type = contentType.replace(/;.*$/su, "").trim().toLowerCase()
  if (type === mediaTypes.json) return Effect.succeed("json")
  if (type === mediaTypes.protobuf) return Effect.succeed("protobuf")
  const message = `the content type is unknown; expected ${mediaTypes.json} or ${mediaTypes.protobuf}`
  return Effect.fail(new Unreadable({ status: 415, format: "json", message }))
}

/** A body as it was before its compression. */
export const unpacked = (
  bytes: Uint8Array,
  format: Format,
  encoding = "identity"
): Effect.Effect<Uint8Array, Unreadable> => {
  if (encoding === "identity") return Effect.succeed(bytes)
  if (encoding === "gzip") return readable(format, () => gunzipSync(bytes, { maxOutputLength: Limits.bodyBytes }))
  const message = "the encoding is unknown; expected gzip or none"
  return Effect.fail(new Unreadable({ status: 415, format, message }))
}

export const spansOf = (bytes: Uint8Array, format: Format): Effect.Effect<ReadonlyArray<Span>, Unreadable> =>
  readable(format, () =>
    format === "json"
      ? decodeSpans(text(bytes))
          .resourceSpans.flatMap(({ scopeSpans }) => scopeSpans)
          .flatMap(({ spans }) =>
            spans.map(({ attributes, events, name, parentSpanId, spanId, traceId }) => ({
              name,
              id: idOf(traceId, spanId),
              parent: parentSpanId === "" ? null : idOf(traceId, parentSpanId),
              attributes: attributesOf(attributes),
              events: events.map((event) => ({ name: event.name, attributes: attributesOf(event.attributes) }))
            }))
          )
      : records(bytes).map((span) => ({
          name: span.text(5),
          id: idOf(hex(span, 1), hex(span, 2)),
          parent: hex(span, 4) === "" ? null : idOf(hex(span, 1), hex(span, 4)),
          attributes: attributesOf(span.messages(9).map(attributeOf)),
          events: span.messages(11).map((event) => ({
            name: event.text(2),
            attributes: attributesOf(event.messages(3).map(attributeOf))
          }))
        }))
  )

export const logsOf = (bytes: Uint8Array, format: Format): Effect.Effect<ReadonlyArray<LogRecord>, Unreadable> =>
  readable(format, () => {
    const all =
      format === "json"
        ? decodeLogs(text(bytes))
            .resourceLogs.flatMap(({ scopeLogs }) => scopeLogs)
            .flatMap(({ logRecords }) => logRecords)
        : records(bytes).map((record) => ({
            eventName: record.text(12),
            traceId: hex(record, 9),
            spanId: hex(record, 10),
            attributes: record.messages(6).map(attributeOf)
          }))
    return all.map(({ attributes: given, eventName, spanId, traceId }) => {
      const attributes = attributesOf(given)
      // Until version 1.6 of the protocol the name of an event was an attribute.
      const name = eventName === "" ? String(attributes["event.name"] ?? "") : eventName
      return { name, attributes, id: spanId === "" ? null : idOf(traceId, spanId) }
    })
  })

/** The field of an answer in JSON that counts what was refused. */
export type Rejected = "rejectedSpans" | "rejectedLogRecords"

/** How many were refused, and why; with 0 of them the message is a warning. */
export interface Outcome {
  readonly rejected: number
  readonly message: string
}

export const answer = (format: Format, what: Rejected, { message, rejected }: Outcome): Uint8Array | string => {
  if (format === "protobuf") return Protobuf.write(message === "" ? {} : { 1: { 1: rejected, 2: message } })
  return JSON.stringify(message === "" ? {} : { partialSuccess: { [what]: rejected, errorMessage: message } })
}

/** The body of a refused request. */
export const refusal = (format: Format, message: string): Uint8Array | string =>
  format === "protobuf" ? Protobuf.write({ 2: message }) : JSON.stringify({ message })

const readable = <A>(format: Format, read: () => A): Effect.Effect<A, Unreadable> =>
  Effect.try({
    try: read,
    catch: (cause) => {
      const why = cause instanceof Error ? cause.message.slice(0, 500) : "unknown"
      return new Unreadable({ status: 400, format, message: `the body cannot be read: ${why}` })
    }
  })

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Spans or log records, which are at the same place of their messages. */
const records = (bytes: Uint8Array): ReadonlyArray<Protobuf.Message> =>
  Protobuf.read(bytes, { most: Limits.fieldsOfTelemetry, left: Limits.fieldsOfTelemetry })
    .messages(1)
    .flatMap((resource) => resource.messages(2))
    .flatMap((scope) => scope.messages(2))

const hex = (message: Protobuf.Message, field: number): string =>
  Buffer.from(message.bytes(field) ?? new Uint8Array()).toString("hex")

const idOf = (trace: string, span: string): string => `${trace}/${span}`.toLowerCase()

const Int = Schema.Union([Schema.Finite, Schema.FiniteFromString])
const Attribute = Schema.Struct({
  key: Schema.String,
  value: Schema.optionalKey(
    Schema.Struct({
      stringValue: Schema.optionalKey(Schema.String),
      boolValue: Schema.optionalKey(Schema.Boolean),
      intValue: Schema.optionalKey(Int),
      doubleValue: Schema.optionalKey(Int)
    })
  )
})
type Attribute = typeof Attribute.Type

const attributeOf = (message: Protobuf.Message): Attribute => {
  const value = message.message(2)
  const key = message.text(1)
  if (value === undefined) return { key }
  const doubleValue = value.double(4)
  if (doubleValue !== undefined) return { key, value: { doubleValue } }
  return value.bytes(1) === undefined
    ? { key, value: { intValue: value.integer(3) } }
    : { key, value: { stringValue: value.text(1) } }
}

const attributesOf = (attributes: ReadonlyArray<Attribute>): Attributes =>
  Object.fromEntries(
    attributes.flatMap(({ key, value: { boolValue, doubleValue, intValue, stringValue } = {} }) => {
      const value = stringValue ?? doubleValue ?? intValue ?? boolValue
      return value === undefined ? [] : [[key, value] as const]
    })
  )

const listOf = <S extends Schema.Constraint>(schema: S) =>
  Schema.Array(schema).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
const Text = Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("")))
const attributes = listOf(Attribute)
const ofSpan = { traceId: Text, spanId: Text, attributes }
const Spans = Schema.Struct({
  ...ofSpan,
  name: Text,
  parentSpanId: Text,
  events: listOf(Schema.Struct({ name: Text, attributes }))
})
const decodeSpans = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      resourceSpans: listOf(Schema.Struct({ scopeSpans: listOf(Schema.Struct({ spans: listOf(Spans) })) }))
    })
  )
)
const decodeLogs = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      resourceLogs: listOf(
        Schema.Struct({
          scopeLogs: listOf(Schema.Struct({ logRecords: listOf(Schema.Struct({ ...ofSpan, eventName: Text })) }))
        })
      )
    })
  )
)
