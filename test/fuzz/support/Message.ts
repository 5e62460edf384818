import { Protobuf } from "@inspo/engine-tinker"
import { gzipSync, zstdCompressSync } from "node:zlib"
import type { Wire } from "@inspo/engine-tinker"

/** A request before it is written: references such as `@session/3` stand for what the server gave out before. */
export interface Message {
  readonly method: string
  readonly path: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Body | null
  readonly packing: "none" | "zstd" | "gzip" | "falsely zstd"
  readonly delivery: Delivery
}

/** `Repeated` is what is long, written short. */
export type Body =
  | { readonly _tag: "Json"; readonly value: unknown }
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Repeated"; readonly before: string; readonly text: string; readonly times: number }
  | {
      readonly _tag: "Protobuf"
      readonly model: string
      readonly sequence: number
      readonly input: Wire.LossInput
      readonly forwardOnly: boolean
      readonly flips: ReadonlyArray<readonly [at: number, byte: number]>
      readonly cut: number | null
    }

/** How the bytes travel: `cut` ends the connection midway, `deaf` reads no answer. */
export type Delivery = "whole" | "chunked" | "pieces" | "cut" | "deaf"

/** Looks up what a reference stands for; an unknown one stays as it is. */
export type Resolve = (text: string) => string

/** A JSON value that is no JavaScript value, such as 1e999, in the place of a string. */
export const raw = (text: string): string => `@raw(${text})`

/** The bytes of a request of HTTP/1.1 that asks for one answer. */
export const encode = ({ body, delivery, headers, method, packing, path }: Message, resolve: Resolve): Uint8Array => {
  const bytes =
    body === null ? null : body._tag === "Repeated" ? long(body, packing) : pack(packing, bodyBytes(body, resolve))
  const given = new Set(headers.map(([name]) => name.toLowerCase()))
  const lines = [
    `${method} ${resolve(path)} HTTP/1.1`,
    ...(given.has("host") ? [] : ["host: localhost"]),
    ...(given.has("connection") ? [] : ["connection: close"]),
    ...(bytes === null || given.has("content-type") ? [] : [`content-type: ${contentType(body)}`]),
    ...(packing === "none" || given.has("content-encoding")
      ? []
      : [`content-encoding: ${packing === "gzip" ? "gzip" : "zstd"}`]),
    ...(bytes === null || given.has("content-length")
      ? []
      : [delivery === "chunked" ? "transfer-encoding: chunked" : `content-length: ${bytes.length}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`)
  ]
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1")
  if (bytes === null) return head
  return Buffer.concat([head, ...(delivery === "chunked" ? chunks(bytes) : [bytes])])
}

/** A message in a few lines, fit for a report. */
export const show = (message: Message): string => {
  const text = JSON.stringify(message)
  return text.length > 3000 ? `${text.slice(0, 3000)} … (${text.length} characters)` : text
}

const bodyBytes = (body: Body, resolve: Resolve): Uint8Array => {
  switch (body._tag) {
    case "Json":
      return Buffer.from(resolve(JSON.stringify(body.value)).replaceAll(/"@raw\(([^)]*)\)"/gu, "$1"))
    case "Text":
      return Buffer.from(body.text, "latin1")
    case "Repeated":
      return repeated(body.before, body.text, body.times)
    case "Protobuf": {
      const { forwardOnly, input } = body
      const encoded = Protobuf.encodeForwardBackward({
        modelId: resolve(body.model),
        seqId: body.sequence,
        forwardOnly,
        input
      })
      for (const [at, byte] of body.flips) encoded[at % encoded.length] = byte
      return body.cut === null ? encoded : encoded.subarray(0, body.cut % encoded.length)
    }
  }
}

const repeated = (before: string, text: string, times: number): Uint8Array =>
  Buffer.concat([Buffer.from(before), Buffer.alloc(text.length * times, text)])

const contentType = (body: Body | null): string =>
  body?._tag === "Protobuf" ? Protobuf.contentType : "application/json"

/** Those of a long body, which are few and are sent often. */
const long = (body: Body, packing: Message["packing"]): Uint8Array => {
  const known = packed.get(body)?.get(packing)
  if (known !== undefined) return known
  const bytes = pack(packing, bodyBytes(body, String))
  packed.set(body, new Map([...(packed.get(body) ?? []), [packing, bytes]]))
  return bytes
}

const packed = new WeakMap<Body, ReadonlyMap<Message["packing"], Uint8Array>>()

const pack = (packing: Message["packing"], bytes: Uint8Array): Uint8Array =>
  packing === "zstd" ? zstdCompressSync(bytes) : packing === "gzip" ? gzipSync(bytes) : bytes

const chunks = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const middle = bytes.length >> 1
  return [
    ...[bytes.subarray(0, middle), bytes.subarray(middle)]
      .filter(({ length }) => length > 0)
      .flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]),
    Buffer.from("0\r\n\r\n")
  ]
}
