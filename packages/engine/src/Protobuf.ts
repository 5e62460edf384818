/** Messages of Protocol Buffers by the numbers of their fields. */
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire"

/** What the fields of a Protocol Buffers message are written from, by their numbers: one value, or many. */
export interface Fields {
  readonly [field: number]: Value | ReadonlyArray<Value>
}

/** A number without a name is an integer. */
export type Value = string | number | boolean | Uint8Array | Float | Fields

type Float = { readonly double: number } | { readonly float: number }

/** Every value of a list is written; one alone is not where it is zero or empty. */
export const write = (fields: Fields): Uint8Array<ArrayBuffer> => writeFields(new BinaryWriter(), fields).finish()

/** A list of integers, as one value. */
export const packed = (values: ReadonlyArray<number>): Uint8Array =>
  values.reduce(writeInteger, new BinaryWriter()).finish()

/** The entries of a map, as the values of one field. */
export const entries = <A>(map: Readonly<Record<string, A>>, valueOf: (value: A) => Value): ReadonlyArray<Value> =>
  Object.entries(map).map(([key, value]) => ({ 1: [key], 2: [valueOf(value)] }))

/** How many fields may be read, and how many still. */
export interface Budget {
  readonly most: number
  left: number
}

/** Reads a message; more fields than the budget has left are a `RangeError`. */
export const read = (bytes: Uint8Array, budget: Budget = { most: Infinity, left: Infinity }): Message => {
  const reader = new BinaryReader(bytes)
  const fields = new Map<number, Array<number | Uint8Array>>()
  while (reader.pos < reader.len) {
    spend(budget, 1)
    const [field, wireType] = reader.tag()
    const value = readValue(reader, field, wireType)
    const values = fields.get(tagOf(field, wireType))
    if (values === undefined) fields.set(tagOf(field, wireType), [value])
    else values.push(value)
  }
  return new Message(fields, budget)
}

/** The fields of a message that were sent, by number; of several values of one that holds one, the last counts. */
export class Message {
  readonly #fields: ReadonlyMap<number, ReadonlyArray<number | Uint8Array>>
  readonly #budget: Budget

  constructor(fields: ReadonlyMap<number, ReadonlyArray<number | Uint8Array>>, budget: Budget) {
    this.#fields = fields
    this.#budget = budget
  }

  /** The number of a field that is none of these. */
  other(known: ReadonlyArray<number>): number | undefined {
    return Array.from(this.#fields.keys(), (tag) => tag >>> 3).find((field) => !known.includes(field))
  }

  bytes(field: number): Uint8Array | undefined {
    return this.#bytes(field).at(-1)
  }

  message(field: number): Message | undefined {
    const bytes = this.bytes(field)
    return bytes === undefined ? undefined : read(bytes, this.#budget)
  }

  text(field: number): string {
    return utf8.decode(this.bytes(field))
  }

  integer(field: number): number {
    return this.#numbers(field, WireType.Varint).at(-1) ?? 0
  }

  double(field: number): number | undefined {
    return this.#numbers(field, WireType.Bit64).at(-1)
  }

  integers(field: number): ReadonlyArray<number> {
    return this.#bytes(field)
      .flatMap((bytes) => unpack(bytes, this.#budget))
      .concat(this.#numbers(field, WireType.Varint))
  }

  messages(field: number): ReadonlyArray<Message> {
    return this.#bytes(field).map((bytes) => read(bytes, this.#budget))
  }

  /** A map, of whose entries `valueOf` reads field 2. */
  map<A>(field: number, valueOf: (entry: Message) => A): Record<string, A> {
    return Object.fromEntries(this.messages(field).map((entry) => [entry.text(1), valueOf(entry)]))
  }

  #bytes(field: number): ReadonlyArray<Uint8Array> {
    return (this.#fields.get(tagOf(field, WireType.LengthDelimited)) ?? []).filter((value) => typeof value !== "number")
  }

  #numbers(field: number, wireType: WireType): ReadonlyArray<number> {
    return (this.#fields.get(tagOf(field, wireType)) ?? []).filter((value) => typeof value === "number")
  }
}

const isList = (given: Value | ReadonlyArray<Value>): given is ReadonlyArray<Value> => Array.isArray(given)

const isFloat = (value: Float | Fields): value is Float => "double" in value || "float" in value

const isZero = (value: Value): boolean =>
  value === "" || value === 0 || value === false || (value instanceof Uint8Array && value.length === 0)

const writeFields = (writer: BinaryWriter, fields: Fields): BinaryWriter => {
  for (const [name, given] of Object.entries(fields)) {
    const field = Number(name)
    if (isList(given)) for (const value of given) writeField(writer, field, value)
    else if (!isZero(given)) writeField(writer, field, given)
  }
  return writer
}

const writeField = (writer: BinaryWriter, field: number, value: Value): void => {
  if (typeof value === "string") writer.tag(field, WireType.LengthDelimited).string(value)
  else if (value instanceof Uint8Array) writer.tag(field, WireType.LengthDelimited).bytes(value)
  else if (typeof value !== "object") writeInteger(writer.tag(field, WireType.Varint), Number(value))
  else if (!isFloat(value)) writeFields(writer.tag(field, WireType.LengthDelimited).fork(), value).join()
  else if ("double" in value) writer.tag(field, WireType.Bit64).double(value.double)
  else writer.tag(field, WireType.Bit32).float(value.float)
}

/** Most are small, and 64 bits take far longer to write. */
const writeInteger = (writer: BinaryWriter, value: number): BinaryWriter =>
  value === (value | 0) ? writer.int32(value) : writer.int64(value)

const readValue = (reader: BinaryReader, field: number, wireType: WireType): number | Uint8Array => {
  switch (wireType) {
    case WireType.LengthDelimited:
      return reader.bytes()
    case WireType.Varint:
      return Number(reader.int64())
    case WireType.Bit64:
      return reader.double()
    case WireType.Bit32:
      return reader.float()
    default:
      reader.skip(wireType, field)
      return 0
  }
}

/** Each byte counts, since it may be a number. */
const unpack = (bytes: Uint8Array, budget: Budget): ReadonlyArray<number> => {
  spend(budget, bytes.length)
  const reader = new BinaryReader(bytes)
  const values: Array<number> = []
  while (reader.pos < reader.len) values.push(Number(reader.int64()))
  return values
}

const spend = (budget: Budget, count: number): void => {
  budget.left -= count
  if (budget.left < 0) throw new RangeError(`more than ${budget.most} elements, expected fewer`)
}

const tagOf = (field: number, wireType: WireType): number => field * 8 + wireType

const utf8 = new TextDecoder("utf-8", { fatal: true })
