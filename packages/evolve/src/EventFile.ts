/** A file of events, one JSON value a line, which resumes a search. */
import { type FileHandle, open } from "node:fs/promises"
import { Instruction } from "@inspo/domain"
import * as RegularFile from "@inspo/domain/RegularFile"
import { Effect, Option, Schema, type Scope } from "effect"
import { Event } from "./Event.ts"
import { describe, FileFailed } from "./Failure.ts"
import * as Lock from "./Lock.ts"
import type { Setup } from "./Setup.ts"

/** What must be equal for a search to go on. `cases` are the different ones, as JSON. */
export const Head = Schema.Struct({
  format: Schema.Literal("inspo-evolve"),
  version: Schema.Literal(3),
  prompt: Instruction.Content,
  cases: Schema.Array(Schema.Json),
  calls: Schema.Finite,
  usd: Schema.NullOr(Schema.Finite),
  minimalGain: Schema.Finite,
  randomSeed: Schema.Finite,
  identity: Schema.Record(Schema.String, Schema.String)
})
export interface Head extends Schema.Schema.Type<typeof Head> {}

export interface EventFile {
  /** The events of earlier processes. */
  readonly events: ReadonlyArray<Event>
  /** Writes events, one batch at a time; they are on the disk when the effect ends. */
  readonly append: (events: ReadonlyArray<Event>) => Effect.Effect<void, FileFailed>
}

/** Nothing is kept. */
export const none: EventFile = { events: [], append: () => Effect.void }

export const headOf = (
  { calls, minimalGain, prompt, randomSeed, usd }: Setup,
  cases: ReadonlyArray<unknown>,
  identity: Readonly<Record<string, string>>
): Head => ({
  format: "inspo-evolve",
  version: 3,
  prompt,
  cases: decodeCases(JSON.stringify(cases)),
  calls,
  usd,
  minimalGain,
  randomSeed,
  identity
})

/** Locks a file for this process, opens it, and reads what is there. An event that was cut off by a crash is removed. */
export const load = Effect.fn("EventFile.load")(function* (
  file: string,
  head: Head
): Effect.fn.Return<EventFile, FileFailed, Scope.Scope> {
  const failed = (cause: unknown) => new FileFailed({ file, problem: describe(cause), cause })
  const lock = yield* Lock.acquire(file)
  const text = yield* Effect.tryPromise({ try: () => readIfThere(file), catch: failed })
  const { bytes, lines } = wholeLines(text)
  const [first] = lines
  if (first !== undefined) yield* assertSame(file, yield* headOfLine(file, first), head)
  const events = yield* eventsOf(file, lines, 1)
  const handle = yield* Effect.acquireRelease(
    Effect.tryPromise({ try: () => openAt(file, bytes), catch: failed }),
    (opened) => Effect.ignore(Effect.tryPromise(() => opened.close()))
  )
  const write = (values: ReadonlyArray<Head | Event>) =>
    Effect.uninterruptible(
      Effect.andThen(
        lock.assertHeld,
        Effect.tryPromise({
          try: async () => {
            await handle.appendFile(values.map((value) => `${JSON.stringify(value)}\n`).join(""))
            await handle.datasync()
          },
          catch: failed
        })
      )
    )
  if (first === undefined) yield* write([head])
  return { events, append: write }
})

/** What a file holds: its head, and the events behind the first `known`. An event that is being written is left out. */
export interface Contents {
  readonly head: Head
  readonly events: ReadonlyArray<Event>
}

/** Reads a file, also while a search writes it. Fails if it is missing, empty, damaged, or not that of a search. */
export const read = Effect.fn("EventFile.read")(function* (
  file: string,
  known = 0
): Effect.fn.Return<Contents, FileFailed> {
  const text = yield* Effect.tryPromise({
    try: () => RegularFile.readText(file),
    catch: (cause) => new FileFailed({ file, problem: describe(cause), cause })
  })
  const { lines } = wholeLines(text)
  const [first] = lines
  if (first === undefined)
    return yield* new FileFailed({
      file,
      problem: text === "" ? "is empty; no search has begun" : "has no whole line; expected the file of a search"
    })
  return { head: yield* headOfLine(file, first), events: yield* eventsOf(file, lines, known + 1) }
})

/** The lines that end, and how many bytes they have. */
const wholeLines = (text: string) => {
  const whole = text.slice(0, text.lastIndexOf("\n") + 1)
  return { lines: whole.split("\n").slice(0, -1), bytes: Buffer.byteLength(whole) }
}

const headOfLine = (file: string, line: string): Effect.Effect<Head, FileFailed> =>
  Effect.mapError(decodeHead(line), ({ message }) => {
    const version = Schema.decodeUnknownOption(OtherVersion)(line)
    return new FileFailed({
      file,
      problem: Option.isSome(version)
        ? `has format version ${version.value.version}; this version of inspo reads ${Head.fields.version.literal}. Use the version that wrote it, or search again with another file`
        : line.startsWith('{"format":"inspo-evolve"')
          ? `line 1 is damaged: ${message}`
          : "is not the file of a search; name another one"
    })
  })

/** The events of the lines from one on. */
const eventsOf = (file: string, lines: ReadonlyArray<string>, from: number) =>
  Effect.forEach(lines.slice(from), (line, index) =>
    Effect.mapError(
      decodeEvent(line),
      ({ message }) => new FileFailed({ file, problem: `line ${from + index + 1} is no event: ${message}` })
    )
  )

const OtherVersion = Schema.fromJsonString(
  Schema.Struct({
    format: Head.fields.format,
    version: Schema.Int.check(Schema.makeFilter((version) => version !== Head.fields.version.literal))
  })
)
const decodeCases = Schema.decodeSync(Schema.fromJsonString(Head.fields.cases))
const decodeEvent = Schema.decodeEffect(Schema.fromJsonString(Event))
const decodeHead = Schema.decodeEffect(Schema.fromJsonString(Head))

const readIfThere = async (file: string): Promise<string> => {
  try {
    return await RegularFile.readText(file)
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, "code") === "ENOENT") return ""
    throw error
  }
}

const openAt = async (file: string, size: number): Promise<FileHandle> => {
  const handle = await open(file, "a+", 0o600)
  await handle.truncate(size)
  return handle
}

const assertSame = (file: string, found: Head, head: Head): Effect.Effect<void, FileFailed> => {
  const [before, now] = [found, head].map(({ identity, ...rest }) => ({ ...rest, ...identity }))
  const differing = Object.keys({ ...before, ...now }).filter(
    (name) => JSON.stringify(Reflect.get(before ?? {}, name)) !== JSON.stringify(Reflect.get(now ?? {}, name))
  )
  return differing.length === 0
    ? Effect.void
    : Effect.fail(
        new FileFailed({
          file,
          problem: `belongs to a search with other ${differing.join(", ")}; use the same, or name another file`
        })
      )
}
