import { byteCharacters } from "./ByteLevel.ts"

/** A value of a GGUF header with the id of its type; a list has that of its elements. */
export type Typed =
  | { readonly type: number; readonly value: number | bigint | boolean | string }
  | { readonly type: 9; readonly of: number; readonly values: ReadonlyArray<Typed> }

/** The bytes of a GGUF header of version 3 without tensors. */
export const header = (entries: ReadonlyArray<readonly [key: string, value: Typed]>): Uint8Array<ArrayBuffer> =>
  Uint8Array.from([
    ...new TextEncoder().encode("GGUF"),
    ...scalar(4, 3),
    ...scalar(10, 0n),
    ...scalar(10, BigInt(entries.length)),
    ...entries.flatMap(([key, value]) => [...text(key), ...scalar(4, value.type), ...bytes(value)])
  ])

const bytes = (one: Typed): ReadonlyArray<number> =>
  "values" in one
    ? [...scalar(4, one.of), ...scalar(10, BigInt(one.values.length)), ...one.values.flatMap(bytes)]
    : typeof one.value === "string"
      ? text(one.value)
      : scalar(one.type, typeof one.value === "boolean" ? Number(one.value) : one.value)

const text = (value: string): ReadonlyArray<number> => {
  const encoded = new TextEncoder().encode(value)
  return [...scalar(10, BigInt(encoded.length)), ...encoded]
}

const scalar = (type: number, value: number | bigint): ReadonlyArray<number> => {
  const view = new DataView(new ArrayBuffer(8))
  if (typeof value === "bigint") {
    view.setBigInt64(0, value, true)
    return Array.from(new Uint8Array(view.buffer))
  }
  const size = sizes[type] ?? 4
  if (type === 6) view.setFloat32(0, value, true)
  else if (type === 12) view.setFloat64(0, value, true)
  else view.setInt32(0, value, true)
  return Array.from(new Uint8Array(view.buffer, 0, size))
}

const sizes: Readonly<Record<number, number>> = { 0: 1, 2: 2, 7: 1, 12: 8 }

const merges = ["t h", "th e", "Ġ the", "a n", "an d", "e r"]
const special = ["<|end|>", "<|user|>"]

/** The vocabulary of {@link fields}: two markers, the bytes, and what the merges make. */
export const tokens: ReadonlyArray<string> = [
  ...special,
  ...byteCharacters,
  ...merges.map((merge) => merge.replace(" ", ""))
]

/** What a header says of a tokenizer that cuts texts as `pre` does. */
export const fields = (pre: string): ReadonlyArray<readonly [string, Typed]> => [
  ["tokenizer.ggml.model", { type: 8, value: "gpt2" }],
  ["tokenizer.ggml.pre", { type: 8, value: pre }],
  ["tokenizer.ggml.tokens", { type: 9, of: 8, values: tokens.map((value) => ({ type: 8, value })) }],
  [
    "tokenizer.ggml.token_type",
    { type: 9, of: 5, values: tokens.map((text) => ({ type: 5, value: special.includes(text) ? 3 : 1 })) }
  ],
  ["tokenizer.ggml.merges", { type: 9, of: 8, values: merges.map((value) => ({ type: 8, value })) }],
  ["tokenizer.ggml.eos_token_id", { type: 4, value: 0 }],
  ["tokenizer.ggml.bos_token_id", { type: 4, value: 1 }],
  [
    "tokenizer.chat_template",
    { type: 8, value: "{%- for message in messages -%}{{- bos_token + message.content + eos_token -}}{%- endfor -%}" }
  ]
]
