import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire"

/** A scalar of a step by its tag. */
export interface Scalar {
  readonly tag: string
  readonly value: number
}

/** The first record of a file, which names its format. */
export const fileVersion = (seconds: number): Uint8Array =>
  event(seconds, 0).tag(3, WireType.LengthDelimited).string("brain.Event:2").finish()

/** The scalars of one step. `seconds` is the time since 1970. */
export const scalars = (seconds: number, step: number, values: ReadonlyArray<Scalar>): Uint8Array => {
  const summary = new BinaryWriter()
  for (const { tag, value } of values)
    summary
      .tag(1, WireType.LengthDelimited)
      .fork()
      .tag(1, WireType.LengthDelimited)
      .string(tag)
      .tag(2, WireType.Bit32)
      .float(value)
      .join()
  return withSummary(event(seconds, step), summary)
}

/** A text in Markdown, for TensorBoard's text tab. */
export const text = (seconds: number, tag: string, markdown: string): Uint8Array => {
  const plugin = new BinaryWriter().tag(1, WireType.LengthDelimited).string("text")
  const metadata = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(plugin.finish())
  const tensor = new BinaryWriter()
    .tag(1, WireType.Varint)
    .int32(stringType)
    .tag(2, WireType.LengthDelimited)
    .bytes(scalarShape)
    .tag(8, WireType.LengthDelimited)
    .string(markdown)
  const summary = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .fork()
    .tag(1, WireType.LengthDelimited)
    .string(tag)
    .tag(9, WireType.LengthDelimited)
    .bytes(metadata.finish())
    .tag(8, WireType.LengthDelimited)
    .bytes(tensor.finish())
    .join()
  return withSummary(event(seconds, 0), summary)
}

/** `DT_STRING` of TensorFlow's types, and the shape of a tensor with one element. */
const stringType = 7
const scalarShape = new Uint8Array()

/** The start of TensorFlow's `Event` message: when it was, and at which step. */
const event = (seconds: number, step: number): BinaryWriter =>
  new BinaryWriter().tag(1, WireType.Bit64).double(seconds).tag(2, WireType.Varint).int64(step)

const withSummary = (message: BinaryWriter, summary: BinaryWriter): Uint8Array =>
  message.tag(5, WireType.LengthDelimited).bytes(summary.finish()).finish()
