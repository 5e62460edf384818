/** Calls of models in the JSON of OTLP, by the semantic conventions of OpenTelemetry 1.45.0, which call these names experimental. */
import { Option, Schema } from "effect"
import { answer, message, type Message, parsed, type Part, type Records } from "./Call.ts"

/** Reads a request of traces or of logs, as the file exporter of a collector writes one in each line; null for other JSON. */
export const read = (json: unknown): Records | null => {
  const all = decode(json)
  if (Option.isNone(all)) return null
  const { resourceLogs = [], resourceSpans = [] } = all.value
  const spans = resourceSpans.flatMap(({ scopeSpans = [] }) => scopeSpans.flatMap(({ spans = [] }) => spans))
  const logs = resourceLogs.flatMap(({ scopeLogs = [] }) => scopeLogs.flatMap(({ logRecords = [] }) => logRecords))
  const facts = [
    ...spans.flatMap(({ events = [], ...span }) => [span, ...events.map((event) => ({ ...event, ...idsOf(span) }))]),
    ...logs.map(({ eventName, ...log }) => ({ ...log, name: eventName }))
  ].map(({ attributes = [], name, spanId = "", traceId = "" }) => ({
    name,
    trace: traceId,
    id: spanId,
    attributes: new Map(attributes.map(({ key, value }) => [key, valueOf(value)]))
  }))
  return {
    calls: facts.flatMap(({ attributes, id, trace }) => {
      const messages = messagesOf(attributes.get("gen_ai.input.messages"))
      const isCall = attributes.get("gen_ai.operation.name") === "chat"
      if (messages === null && !isCall) return []
      const system = partsOf(attributes.get("gen_ai.system_instructions"))
      const output = messagesOf(attributes.get("gen_ai.output.messages")) ?? []
      const all = system === null || messages === null ? messages : [message("system", system), ...messages]
      return [{ trace, id, session: null, messages: all, answer: answer(output) }]
    }),
    scores: facts.flatMap(({ attributes, id, name, trace }) => {
      const value = attributes.get("gen_ai.evaluation.score.value")
      if ((name ?? attributes.get("event.name")) !== "gen_ai.evaluation.result" || typeof value !== "number") return []
      const comment = attributes.get("gen_ai.evaluation.explanation")
      const of = attributes.get("gen_ai.evaluation.name")
      return [
        {
          trace,
          call: id === "" ? null : id,
          name: typeof of === "string" ? of : "score",
          value,
          comment: typeof comment === "string" ? comment : null
        }
      ]
    }),
    sessions: facts.flatMap(({ attributes, trace }) => {
      const session = attributes.get("gen_ai.conversation.id") ?? attributes.get("session.id")
      return typeof session === "string" ? [[trace, session] as const] : []
    })
  }
}

/** A value of an attribute. */
interface Value {
  readonly stringValue?: string
  readonly boolValue?: boolean
  readonly intValue?: number
  readonly doubleValue?: number
  readonly arrayValue?: { readonly values?: ReadonlyArray<Value> }
  readonly kvlistValue?: { readonly values?: ReadonlyArray<{ readonly key: string; readonly value?: Value }> }
}

const valueOf = (value: Value = {}): unknown => {
  const { arrayValue, boolValue, doubleValue, intValue, kvlistValue, stringValue } = value
  if (arrayValue !== undefined) return (arrayValue.values ?? []).map(valueOf)
  if (kvlistValue !== undefined)
    return Object.fromEntries((kvlistValue.values ?? []).map((member) => [member.key, valueOf(member.value)]))
  return stringValue ?? doubleValue ?? intValue ?? boolValue ?? null
}

const idsOf = ({ spanId, traceId }: { readonly spanId?: string; readonly traceId?: string }) => ({
  ...(spanId === undefined ? {} : { spanId }),
  ...(traceId === undefined ? {} : { traceId })
})

const messagesOf = (value: unknown): ReadonlyArray<Message> | null =>
  Option.match(decodeMessages(parsed(value)), {
    onNone: () => null,
    onSome: (messages) => messages.map(({ parts, role }) => message(role, parts.map(partOf)))
  })

const partsOf = (value: unknown): ReadonlyArray<Part> | null =>
  Option.match(decodeParts(parsed(value)), { onNone: () => null, onSome: (parts) => parts.map(partOf) })

const partOf = ({ content, type }: typeof PartOf.Type): Part => ({ type, text: content })

const PartOf = Schema.Struct({ type: Schema.String, content: Schema.optionalKey(Schema.String) })
const decodeParts = Schema.decodeUnknownOption(Schema.Array(PartOf))
const decodeMessages = Schema.decodeUnknownOption(
  Schema.Array(Schema.Struct({ role: Schema.String, parts: Schema.Array(PartOf) }))
)

const Num = Schema.Union([Schema.Finite, Schema.FiniteFromString])
const list = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.Array(schema))
const AnyValue: Schema.Codec<Value, unknown> = Schema.Struct({
  stringValue: Schema.optionalKey(Schema.String),
  boolValue: Schema.optionalKey(Schema.Boolean),
  intValue: Schema.optionalKey(Num),
  doubleValue: Schema.optionalKey(Num),
  arrayValue: Schema.optionalKey(Schema.Struct({ values: list(Schema.suspend(() => AnyValue)) })),
  kvlistValue: Schema.optionalKey(
    Schema.Struct({
      values: list(Schema.Struct({ key: Schema.String, value: Schema.optionalKey(Schema.suspend(() => AnyValue)) }))
    })
  )
})
const attributes = list(Schema.Struct({ key: Schema.String, value: Schema.optionalKey(AnyValue) }))
const text = Schema.optionalKey(Schema.String)
const ids = { traceId: text, spanId: text, attributes }
const Span = Schema.Struct({ ...ids, name: text, events: list(Schema.Struct({ name: text, attributes })) })
const LogRecord = Schema.Struct({ ...ids, eventName: text })
const Spans = list(Schema.Struct({ scopeSpans: list(Schema.Struct({ spans: list(Span) })) }))
const Logs = list(Schema.Struct({ scopeLogs: list(Schema.Struct({ logRecords: list(LogRecord) })) }))
const decode = Schema.decodeUnknownOption(
  Schema.Struct({ resourceSpans: Spans, resourceLogs: Logs }).check(
    Schema.makeFilter(({ resourceLogs, resourceSpans }) => resourceLogs !== undefined || resourceSpans !== undefined)
  )
)
