/** The part of Protocol Buffers that telemetry needs: messages by the numbers of their fields. */
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire"
import * as Limits from "../../wire/Limits.ts"

/** The values of the fields that were sent, in their order. */
export type Message = ReadonlyMap<number, ReadonlyArray<number | Uint8Array>>

/** Throws for bytes that are no message, or one with too many fields. */
export const read = (bytes: Uint8Array): Message => {
  const reader = new BinaryReader(bytes)
  const fields = new Map<number, Array<number | Uint8Array>>()
  for (let count = 0; reader.pos < reader.len; count++) {
    if (count === Limits.fieldsOfMessage) throw new RangeError(`more than ${count} fields in a message`)
    const [field, wireType] = reader.tag()
    const value = readValue(reader, field, wireType)
    const values = fields.get(field)
    if (values === undefined) fields.set(field, [value])
    else values.push(value)
  }
  return fields
}

export const messages = (message: Message, field: number): ReadonlyArray<Message> =>
  (message.get(field) ?? []).filter((value) => typeof value !== "number").map(read)

/** Undefined if it was not sent. */
export const bytes = (message: Message, field: number): Uint8Array | undefined => {
  const value = message.get(field)?.at(-1)
  return typeof value === "number" ? undefined : value
}

export const text = (message: Message, field: number): string => new TextDecoder().decode(bytes(message, field))

/** An integer or a double; undefined if it was not sent. */
export const number = (message: Message, field: number): number | undefined => {
  const value = message.get(field)?.at(-1)
  return typeof value === "number" ? value : undefined
}

/** An integer of 64 bits; undefined if it was not sent. */
export const fixed = (message: Message, field: number): number | undefined => {
  const value = number(message, field)
  return value === undefined ? undefined : Number(new BigUint64Array(Float64Array.of(value).buffer)[0])
}

const readValue = (reader: BinaryReader, field: number, wireType: WireType): number | Uint8Array => {
  switch (wireType) {
    case WireType.LengthDelimited:
      return reader.bytes()
    case WireType.Varint:
      return Number(reader.int64())
    case WireType.Bit64:
      return reader.double()
    default:
      reader.skip(wireType, field)
      return 0
  }
}

/** A message with a text in field 2 and, if it is not 0, an integer in field 1. */
export const report = (integer: number, message: string): Uint8Array => {
  const writer = new BinaryWriter()
  if (integer > 0) writer.tag(1, WireType.Varint).int64(integer)
  return writer.tag(2, WireType.LengthDelimited).string(message).finish()
}

/** A message with another one in field 1. */
export const wrapped = (message: Uint8Array): Uint8Array =>
  new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(message).finish()
