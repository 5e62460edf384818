/** Calls and answers as lines of JSON, several in flight, between inspo and one other process. */
import { PlainText } from "@inspo/domain"
import { Clock, Deferred, Duration, Effect, Exit, Option, Schema } from "effect"
import { type Answer, type Call, decode, expected } from "./OutsideAgent.ts"

/** The other process cannot be relied on any more: which of the calls in flight is to blame is not known. */
export class Broken extends Schema.TaggedError<Broken>()("Broken", { reason: Schema.String }) {}

export interface Exchange {
  /** Writes a line with an id that none had before, and waits for its answer. */
  readonly ask: (
    line: { readonly id: string; readonly [name: string]: unknown } | Call
  ) => Effect.Effect<Answer, Broken>
  /** Reads what the other process wrote, in pieces of any size. */
  readonly receive: (text: string) => Effect.Effect<void>
  /** Fails all calls that wait, and all later ones. */
  readonly end: (reason: string) => Effect.Effect<void>
  readonly waiting: () => number
  /** Why no call can be answered any more; null while calls can. */
  readonly ended: () => string | null
}

export interface Options {
  readonly write: (line: string) => Effect.Effect<unknown>
  /** Gets the lines that are no answers. */
  readonly log: (text: string) => Effect.Effect<void>
  /** How long the other process may be silent while a call waits. */
  readonly timeout: Duration.Input
}

export const make = (options: Options): Exchange => {
  const { log, write } = options
  const timeout = Duration.fromInputUnsafe(options.timeout)
  const waiting = new Map<string, Deferred.Deferred<Answer, Broken>>()
  /** One that waits no more has an answer, or nobody wants it. */
  const asked = new Set<string>()
  let ended: string | null = null
  let stray = ""
  let rest = ""
  let lastAnswer = -Infinity

  const end = (reason: string) =>
    Effect.suspend(() => {
      ended ??= reason
      rest = ""
      const exit = Exit.fail(new Broken({ reason: ended }))
      return Effect.forEach([...waiting.values()], (one) => Deferred.done(one, exit), { discard: true })
    })

  const read = (text: string): Effect.Effect<void> => {
    const found = readLine(text)
    if (typeof found === "string") return end(found)
    if (found === null) {
      if (text.trim() !== "") stray = text
      return log(`${text}\n`)
    }
    const one = waiting.get(found.id)
    if (one === undefined)
      return asked.has(found.id)
        ? log(`A second answer, or a late one: ${text.slice(0, mostShown)}\n`)
        : end(
            `answered the id ${PlainText.json(found.id, 100)}, and no call has it; give each answer the id of its call`
          )
    waiting.delete(found.id)
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      lastAnswer = now
      return Deferred.succeed(one, found.answer)
    })
  }

  const silence: (since: number) => Effect.Effect<never, Broken> = Effect.fnUntraced(function* (since) {
    const left = Math.max(since, lastAnswer) + Duration.toMillis(timeout) - (yield* Clock.currentTimeMillis)
    if (left > 0) return yield* Effect.andThen(Effect.sleep(left), silence(since))
    const reason =
      `gave no answer for ${Duration.format(timeout)}; answer each line that is read, and flush` +
      (stray === ""
        ? ""
        : `. Its last line that is no answer is ${PlainText.json(stray, mostShown)}; expected ${expected}`)
    return yield* new Broken({ reason })
  })

  return {
    end,
    ended: () => ended,
    waiting: () => waiting.size,
    receive: (text) =>
      Effect.suspend(() => {
        if (ended !== null) return Effect.void
        const [first = "", ...others] = text.split("\n")
        const lines = [`${rest}${first}`, ...others]
        rest = lines.pop() ?? ""
        return [...lines, rest].some(({ length }) => length > longestLine)
          ? end(`wrote a line of more than ${longestLine.toLocaleString("en-US")} characters; shorten its outputs`)
          : Effect.forEach(lines, (line) => read(line.replace(/\r$/u, "")), { discard: true })
      }),
    ask: (call) =>
      Effect.gen(function* () {
        if (ended !== null) return yield* new Broken({ reason: ended })
        const answer = yield* Deferred.make<Answer, Broken>()
        waiting.set(call.id, answer)
        asked.add(call.id)
        yield* write(PlainText.jsonLine(call))
        const now = yield* Clock.currentTimeMillis
        return yield* Effect.raceFirst(Deferred.await(answer), silence(now))
      }).pipe(Effect.ensuring(Effect.sync(() => waiting.delete(call.id))))
  }
}

const longestLine = 8_000_000
const mostShown = 300

/** The answer in a line; null for a line that is none, and what is wrong with one that should be. */
const readLine = (text: string): { readonly id: string; readonly answer: Answer } | string | null => {
  const found = text.startsWith("{") ? Option.getOrNull(decodeObject(text)) : null
  if (found === null)
    return /^\{\s*"id"/u.test(text)
      ? `wrote a line that is no JSON, ${PlainText.json(text, mostShown)}; expected ${expected}`
      : null
  if (!("output" in found || ("id" in found && "error" in found))) return null
  const error = `${PlainText.json(text, mostShown)}; expected ${expected}`
  const id = found["id"] ?? "none"
  return {
    id: typeof id === "string" ? id : JSON.stringify(id),
    answer: Option.getOrElse(decode(found), (): Answer => ({ error }))
  }
}

const decodeObject = Schema.decodeOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))
