import { plural } from "@inspo/report"
import { Redaction } from "@inspo/serve"
import { Effect, FileSystem, Option, Result, Schema } from "effect"
import { readNamed } from "../config/TextFile.ts"
import { usageError } from "../Failure.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { refuseExisting, replace } from "./Output.ts"
import { merged } from "./traces/Call.ts"
import * as Traced from "./traces/Cases.ts"
import * as Langfuse from "./traces/Langfuse.ts"
import * as Otlp from "./traces/Otlp.ts"

/** The formats of exports. */
const formats = [Otlp, Langfuse]

export interface CasesInput {
  readonly files: ReadonlyArray<string>
  readonly out: string
  readonly redact: ReadonlyArray<string>
  readonly atLeast: ReadonlyArray<string>
  readonly force: boolean
}

/** Writes the cases that exports of traces hold, as a file that `evolve` and `compare` read. */
export const cases = Effect.fn("Cases.cases")(function* ({ atLeast, files, force, out, redact }: CasesInput) {
  if (!/\.(jsonl|ndjson)$/iu.test(out))
    return yield* usageError(`The file to write is ${out}; expected a name that ends with .jsonl or .ndjson.`)
  yield* refuseExisting([out], force)
  const least = yield* leastOf(atLeast)
  const redacted = Redaction.make(redact)
  if (Result.isFailure(redacted)) return yield* usageError(`--redact: ${redacted.failure.message}`, redacted.failure)
  const hide = redacted.success
  const records = merged(yield* Effect.forEach(files, read))
  const { cases: found, dropped, prompts } = Traced.of(records, least)
  const names = [...new Set(records.scores.map(({ name }) => name))].sort()
  const unknown = Object.keys(least).find((name) => !names.includes(name))
  if (unknown !== undefined)
    return yield* usageError(
      `--at-least names the score ${JSON.stringify(unknown)}; the export has ${names.length === 0 ? "no scores" : names.join(", ")}.`
    )
  const numbers = new Map([...new Set(found.map(({ session }) => session))].map((session, at) => [session, at + 1]))
  const rows = found.map(({ conversation, feedback, input, output, session, ...others }): Traced.Case => ({
    input: hide(input),
    ...(conversation === undefined
      ? {}
      : { conversation: conversation.map(({ content, role }) => ({ role, content: hide(content) })) }),
    output: hide(output),
    ...(feedback === undefined ? {} : { feedback: hide(feedback) }),
    ...others,
    // Of redacted names, each session keeps one of its own.
    session: hide(session) === session ? session : `session ${numbers.get(session)}`
  }))
  const changed = rows.filter((row, at) => JSON.stringify(row) !== JSON.stringify(found[at])).length
  const reasons = [...Map.groupBy(dropped, ({ reason }) => reason)].map(([reason, { length }]) => ({
    reason: Traced.reasons[reason],
    calls: length
  }))
  if (rows.length === 0)
    return yield* usageError(
      [
        `${files.join(", ")}: no call of a model is a case.`,
        ...reasons.map(({ calls, reason }) => `${plural(calls, "call")}: ${reason}.`)
      ].join(" ")
    )
  const fs = yield* FileSystem.FileSystem
  yield* replace(out, (temporary) =>
    fs.writeFileString(temporary, rows.map((row) => `${JSON.stringify(row)}\n`).join(""))
  )
  const sessions = new Set(rows.map(({ session }) => session)).size
  const summary = { file: out, cases: rows.length, sessions, redacted: changed, prompts: prompts.length, scores: names }
  yield* Reporter.print({ ...summary, dropped: reasons }, () => [
    `${plural(rows.length, "case")} of ${plural(sessions, "session")} in ${out}` +
      (redact.length === 0 ? "" : `, ${changed} of them redacted`),
    ...(prompts.length > 1 ? [`The calls have ${prompts.length} different prompts of the system.`] : []),
    ...(names.length === 0 ? [] : [`scores: ${names.join(", ")}`]),
    ...reasons.map(({ calls, reason }) => `left out: ${plural(calls, "call")}; ${reason}`)
  ])
})

/** The records of an export: one JSON document, or one in each line. */
const read = Effect.fnUntraced(function* (file: string) {
  const text = yield* readNamed(file)
  const whole = decodeJson(text)
  const lines = Option.isSome(whole)
    ? [{ place: file, json: whole }]
    : text
        .split("\n")
        .flatMap((line, index) =>
          line.trim() === "" ? [] : [{ place: `${file}:${index + 1}`, json: decodeJson(line) }]
        )
  const documents = lines.flatMap(({ json, place }) =>
    Option.isSome(json) && Array.isArray(json.value)
      ? json.value.map((one, index) => ({ place: `${place}[${index}]`, json: Option.some(one) }))
      : [{ place, json }]
  )
  const found = yield* Effect.forEach(documents, ({ json, place }) => {
    if (Option.isNone(json)) return Effect.fail(usageError(`${place} is no JSON; expected JSON, or JSON lines.`))
    const records = formats.map((format) => format.read(json.value)).find((one) => one !== null)
    return records === undefined
      ? Effect.fail(
          usageError(
            `${place} is neither traces or logs of OTLP (resourceSpans, resourceLogs) nor an observation, a score or a trace of Langfuse.`
          )
        )
      : Effect.succeed(records)
  })
  return merged(found)
})

const decodeJson = Schema.decodeOption(Schema.fromJsonString(Schema.Json))

const leastOf = (given: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(given, (text) => {
      const [, name = "", bound = ""] = /^(.+)=(-?\d+(?:\.\d+)?)$/u.exec(text) ?? []
      return bound === ""
        ? Effect.fail(usageError(`--at-least is ${text}; expected NAME=NUMBER, such as relevance=0.8.`))
        : Effect.succeed([name, Number(bound)] as const)
    }),
    (bounds) => Object.fromEntries(bounds)
  )
