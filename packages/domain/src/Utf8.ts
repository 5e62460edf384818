import { Result, Stream } from "effect"

/** What is not UTF-8: `at` counts the bytes before it, and `byte` is the first of it. */
export interface Fault {
  readonly at: number
  readonly byte: number
}

/** A line of a text, from 1, with the line that comes last without a line break. */
export interface Line {
  readonly line: number
  readonly text: Result.Result<string, Fault>
}

/** The text of bytes, a byte order mark included; a fault where they are no UTF-8, never a replacement character. */
export const decode = (bytes: Uint8Array): Result.Result<string, Fault> => {
  try {
    return Result.succeed(strict.decode(bytes))
  } catch {
    return Result.fail(faultOf(bytes))
  }
}

/** A file's bytes as lines, which end in LF or CRLF, read as they are needed. */
export const lines = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Line, E, R> =>
  bytes.pipe(
    Stream.mapAccum(
      (): ReadonlyArray<Uint8Array> => [],
      (rest, chunk) => {
        const whole: Array<Uint8Array> = []
        let open = rest
        let start = 0
        for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
          whole.push(joined([...open, chunk.subarray(start, end)]))
          open = []
          start = end + 1
        }
        return [start < chunk.length ? [...open, chunk.subarray(start)] : open, whole] as const
      },
      { onHalt: (rest) => (rest.length === 0 ? [] : [joined(rest)]) }
    ),
    Stream.zipWithIndex,
    Stream.map(([line, index]) => ({ line: index + 1, text: decode(withoutReturn(line)) }))
  )

/** What to say of a fault: where it is, and how the text becomes one that can be read. */
export const explain = (file: string, { at, byte }: Fault): { readonly found: string; readonly remedy: string } => ({
  found: `byte ${at + 1} (0x${byte.toString(16).toUpperCase().padStart(2, "0")}) is not UTF-8`,
  remedy: `If it is Latin-1, convert it: iconv -f latin1 -t utf-8 ${file} > NEW`
})

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder("utf-8", { ignoreBOM: true })

/** Where a replacement character replaces something else. */
const faultOf = (bytes: Uint8Array): Fault => {
  let at = 0
  for (const character of lenient.decode(bytes)) {
    if (character === "\uFFFD" && !replacement.every((byte, index) => bytes[at + index] === byte)) break
    at += encoder.encode(character).length
  }
  return { at, byte: bytes[at] ?? 0 }
}

const replacement = [0xef, 0xbf, 0xbd]
const encoder = new TextEncoder()
const lineFeed = 10
const carriageReturn = 13

const withoutReturn = (line: Uint8Array): Uint8Array => (line.at(-1) === carriageReturn ? line.subarray(0, -1) : line)

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only, ...others] = parts
  if (only !== undefined && others.length === 0) return only
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
