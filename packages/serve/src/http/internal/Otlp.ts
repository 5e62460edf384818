/** Requests of OTLP over HTTP, version 1, in JSON and in protobuf: of spans and log records what names leases and evaluations. */
import { gunzipSync } from "node:zlib"
import { Effect, Option, Schema } from "effect"
import * as Limits from "../../wire/Limits.ts"
import * as Protobuf from "./Protobuf.ts"

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
  readonly seconds: number
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
  readable(format, () => {
    const spans = format === "json" ? decodeSpans(text(bytes)) : records(bytes).map(spanOf)
    return spans.map(
      ({ attributes, endTimeUnixNano, events, name, parentSpanId, spanId, startTimeUnixNano, traceId }) => ({
        name,
        id: idOf(traceId, spanId),
        parent: parentSpanId === "" ? null : idOf(traceId, parentSpanId),
        seconds: (endTimeUnixNano - startTimeUnixNano) / 1e9,
        attributes: attributesOf(attributes),
        events: events.map((event) => ({ name: event.name, attributes: attributesOf(event.attributes) }))
      })
    )
  })

export const logsOf = (bytes: Uint8Array, format: Format): Effect.Effect<ReadonlyArray<LogRecord>, Unreadable> =>
  readable(format, () => {
    const all = format === "json" ? decodeLogs(text(bytes)) : records(bytes).map(logOf)
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
  if (message === "") return format === "protobuf" ? new Uint8Array() : "{}"
  return format === "protobuf"
    ? Protobuf.wrapped(Protobuf.report(rejected, message))
    : JSON.stringify({ partialSuccess: { [what]: rejected, errorMessage: message } })
}

/** The body of a refused request. */
export const refusal = (format: Format, message: string): Uint8Array | string =>
  format === "protobuf" ? Protobuf.report(0, message) : JSON.stringify({ message })

const readable = <A>(format: Format, read: () => A): Effect.Effect<A, Unreadable> =>
  Effect.try({
    try: read,
    catch: (cause) => {
      const why = cause instanceof Error ? cause.message.slice(0, 500) : "unknown"
      return new Unreadable({ status: 400, format, message: `the body cannot be read: ${why}` })
    }
  })

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

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

const decodeAttribute = Schema.decodeUnknownOption(Attribute)

/** Those that can be used: one that cannot, such as NaN, takes no other with it. */
const attributesOf = (attributes: ReadonlyArray<unknown>): Attributes =>
  Object.fromEntries(
    attributes.flatMap((one) => {
      const { key, value: values = {} } = Option.getOrElse(decodeAttribute(one), () => ({ key: "", value: {} }))
      const { boolValue, doubleValue, intValue, stringValue }: typeof values = values
      const value = stringValue ?? doubleValue ?? intValue ?? boolValue
      return value === undefined ? [] : [[key, value] as const]
    })
  )

const listOf = <S extends Schema.Constraint>(schema: S) =>
  Schema.Array(schema).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
const Text = Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("")))
const attributes = listOf(Schema.Unknown)
const ids = { traceId: Text, spanId: Text, attributes }
const Time = Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))
const times = { startTimeUnixNano: Time, endTimeUnixNano: Time }
const Event = Schema.Struct({ name: Text, attributes })
const SpanMessage = Schema.Struct({ ...ids, ...times, name: Text, parentSpanId: Text, events: listOf(Event) })
const LogMessage = Schema.Struct({ ...ids, eventName: Text })

const Spans = Schema.Struct({
  resourceSpans: listOf(Schema.Struct({ scopeSpans: listOf(Schema.Struct({ spans: listOf(SpanMessage) })) }))
})
const Logs = Schema.Struct({
  resourceLogs: listOf(Schema.Struct({ scopeLogs: listOf(Schema.Struct({ logRecords: listOf(LogMessage) })) }))
})
const decodeAllSpans = Schema.decodeUnknownSync(Spans)
const decodeAllLogs = Schema.decodeUnknownSync(Logs)
/** A member that is null is absent, as in all JSON of protobuf. */
const parse = (json: string): unknown => JSON.parse(json, (_, value: unknown) => value ?? undefined)
const decodeSpans = (json: string) =>
  decodeAllSpans(parse(json)).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
const decodeLogs = (json: string) =>
  decodeAllLogs(parse(json)).resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords))

/** Spans or log records, which are at the same place of their messages. */
const records = (bytes: Uint8Array): ReadonlyArray<Protobuf.Message> =>
  Protobuf.messages(Protobuf.read(bytes), 1)
    .flatMap((resource) => Protobuf.messages(resource, 2))
    .flatMap((scope) => Protobuf.messages(scope, 2))

const spanOf = (span: Protobuf.Message): typeof SpanMessage.Type => ({
  traceId: hex(span, 1),
  spanId: hex(span, 2),
  parentSpanId: hex(span, 4),
  name: Protobuf.text(span, 5),
  startTimeUnixNano: Protobuf.fixed(span, 7) ?? 0,
  endTimeUnixNano: Protobuf.fixed(span, 8) ?? 0,
  attributes: Protobuf.messages(span, 9).map(attributeOf),
  events: Protobuf.messages(span, 11).map((event) => ({
    name: Protobuf.text(event, 2),
    attributes: Protobuf.messages(event, 3).map(attributeOf)
  }))
})

const logOf = (record: Protobuf.Message): typeof LogMessage.Type => ({
  traceId: hex(record, 9),
  spanId: hex(record, 10),
  eventName: Protobuf.text(record, 12),
  attributes: Protobuf.messages(record, 6).map(attributeOf)
})

const attributeOf = (message: Protobuf.Message): typeof Attribute.Type => {
  const key = Protobuf.text(message, 1)
  const [value] = Protobuf.messages(message, 2)
  if (value === undefined) return { key }
  const number = Protobuf.number(value, 4) ?? Protobuf.number(value, 3)
  if (number !== undefined) return { key, value: { doubleValue: number } }
  return Protobuf.bytes(value, 1) === undefined ? { key } : { key, value: { stringValue: Protobuf.text(value, 1) } }
}

const hex = (message: Protobuf.Message, field: number): string =>
  Buffer.from(Protobuf.bytes(message, field) ?? new Uint8Array()).toString("hex")
