import { Result, Stream } from "effect"

/** A byte that is not UTF-8: `at` counts the bytes before it, `byte` is its value. */
export interface Fault {
  readonly at: number
  readonly byte: number
}

/** A line of a text and its number, from 1; the last one may have no line break. */
export interface Line {
  readonly line: number
  readonly text: Result.Result<string, Fault>
}

/** The text of bytes, a byte order mark included; fails if they are not UTF-8, never a replacement character. */
export const decode = (bytes: Uint8Array): Result.Result<string, Fault> => {
  try {
    return Result.succeed(strict.decode(bytes))
  } catch {
    return Result.fail(faultOf(bytes))
  }
}

/** The lines of a file's bytes, which end in LF or CRLF, read on demand. */
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

/** The error message: where the byte is, and how to convert the file. */
export const explain = (file: string, { at, byte }: Fault): { readonly found: string; readonly remedy: string } => ({
  found: `byte ${at + 1} (0x${byte.toString(16).toUpperCase().padStart(2, "0")}) is not UTF-8`,
  remedy: `If it is Latin-1, convert it: iconv -f latin1 -t utf-8 ${file} > NEW`
})

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder("utf-8", { ignoreBOM: true })

/** The index of a replacement character that replaces other bytes. */
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
