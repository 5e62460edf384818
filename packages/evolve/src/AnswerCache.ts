/** Answers of earlier comparisons, one file each: an agent is not paid again for the same prompt, case and sample. */
import { createHash } from "node:crypto"
import { mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { PlainText } from "@inspo/domain"
import { Effect, type Option, Schema } from "effect"
import { Metrics } from "./Event.ts"
import * as Log from "./Log.ts"

/** What an answer depends on; `agent` names what gives it, such as a model with its settings. */
export interface Question {
  readonly agent: Readonly<Record<string, string>>
  readonly prompt: unknown
  readonly case: unknown
  readonly sample: number
}

export interface AnswerCache {
  /** The answer that is known; none if there is no whole file with one. */
  readonly find: (question: Question) => Effect.Effect<Option.Option<Kept>>
  readonly keep: (question: Question, kept: Kept) => Effect.Effect<void, Log.FileFailed>
}

/** The answers in a directory, which is made when the first one is kept. */
export const inDirectory = (directory: string): AnswerCache => {
  const fileOf = ({ agent, prompt, sample, ...rest }: Question): string => {
    const sorted = Object.entries(agent).toSorted(([one], [other]) => (one < other ? -1 : 1))
    const key = JSON.stringify([sorted, prompt, rest.case, sample])
    return join(directory, `${createHash("sha256").update(key).digest("hex")}.json`)
  }
  return {
    find: (question) =>
      Effect.promise(() => readFile(fileOf(question), "utf8").catch(() => "")).pipe(Effect.map(decode)),
    keep: (question, kept) => {
      const file = fileOf(question)
      return Effect.tryPromise({
        try: async () => {
          await mkdir(directory, { recursive: true })
          // Another process may keep the same answer: a file is whole or absent.
          await writeFile(`${file}.${process.pid}`, PlainText.jsonLine(kept))
          await rename(`${file}.${process.pid}`, file)
        },
        catch: (cause) => new Log.FileFailed({ file, problem: Log.describe(cause), cause })
      })
    }
  }
}

/** An answer, with what was measured of its call. */
const Kept = Schema.Struct({ answer: Schema.Json, metrics: Schema.optionalKey(Metrics) })
interface Kept extends Schema.Schema.Type<typeof Kept> {}

const decode = Schema.decodeOption(Schema.fromJsonString(Kept))
