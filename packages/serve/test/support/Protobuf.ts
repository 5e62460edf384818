/** Writes messages of Protocol Buffers by the numbers of their fields. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire"

export interface Fields {
  readonly [field: number]: Value | ReadonlyArray<Value>
}

/** A number without a name is an integer. */
export type Value = string | number | Uint8Array | { readonly double: number } | Fields

const isList = (given: Value | ReadonlyArray<Value>): given is ReadonlyArray<Value> => Array.isArray(given)
const isDouble = (value: { readonly double: number } | Fields): value is { readonly double: number } =>
  "double" in value

export const write = (fields: Fields): Uint8Array => {
  const writer = new BinaryWriter()
  for (const [field, given] of Object.entries(fields))
    for (const value of isList(given) ? given : [given]) {
      if (typeof value === "number") writer.tag(Number(field), WireType.Varint).int64(value)
      else if (typeof value === "string") writer.tag(Number(field), WireType.LengthDelimited).string(value)
      else if (value instanceof Uint8Array) writer.tag(Number(field), WireType.LengthDelimited).bytes(value)
      else if (isDouble(value)) writer.tag(Number(field), WireType.Bit64).double(value.double)
      else writer.tag(Number(field), WireType.LengthDelimited).bytes(write(value))
    }
  return writer.finish()
}
