/** An agent outside of inspo: a program, an address or a function that answers a case under a prompt. */
import { PlainText } from "@inspo/domain"
import { Effect, Option, Schema } from "effect"
import { redacted } from "./Secrets.ts"

/** What an agent is asked. `id` names the call: the same one after a restart of inspo, another one when a call is repeated. */
export interface Call {
  readonly id: string
  readonly prompt: string | Readonly<Record<string, string>>
  readonly case: Schema.Json
  /** The place of the case in its file, from 0, where the process that started inspo answers. */
  readonly row?: number
  /** The server and the model that the agent should ask, where inspo chooses them. */
  readonly baseUrl?: string
  readonly model?: string
  /** 0 for the first attempt. */
  readonly attempt: number
}

/** The answer to a call: `score` in [0, 1] and `feedback` for the proposer, where the agent scores its own output; `metrics` are other numbers. */
export interface Reply {
  readonly output: Schema.Json
  readonly score?: number
  readonly feedback?: string
  readonly usd?: number
  readonly metrics?: Readonly<Record<string, number>>
}

export interface OutsideAgent {
  /** As it was named, without credentials. */
  readonly name: string
  /** `again` runs before a call is repeated from its start. */
  readonly ask: (call: Call, again?: Effect.Effect<void>) => Effect.Effect<Reply, OutsideFailed>
}

/** A call without an answer that can be used. `usd` is what it did cost; a `status` of 4xx says that every other call would fail, too. */
export class OutsideFailed extends Schema.TaggedError<OutsideFailed>()("OutsideFailed", {
  agent: Schema.String,
  reason: Schema.String,
  usd: Schema.Finite,
  status: Schema.NullOr(Schema.Int)
}) {
  override get message() {
    return `${this.agent} ${this.reason}`
  }
}

/** The secrets of the environment are left out of what an agent says. */
export const failed = (agent: string, reason: string, status: number | null = null, usd = 0): OutsideFailed =>
  new OutsideFailed({ agent, reason: redacted(reason), usd, status })

const maybe = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** An answer as an agent writes it, besides its id; a member that is null is none. */
export const Answer = Schema.Struct({
  output: Schema.optionalKey(Schema.Json),
  score: maybe(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
  feedback: maybe(Schema.String),
  usd: maybe(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
  metrics: maybe(Schema.Record(Schema.String, Schema.Finite)),
  error: maybe(Schema.String)
})
export interface Answer extends Schema.Schema.Type<typeof Answer> {}

/** What an answer has to be, for messages. */
export const expected = `{"id", "output", "score"?: 0 to 1, "feedback"?, "usd"?, "metrics"?} or {"id", "error"}`

export const decode = Schema.decodeUnknownOption(Answer)

/** The reply in an answer, or why there is none. */
export const replyOf = (
  agent: string,
  { error, feedback, metrics, output, score, usd }: Answer
): Effect.Effect<Reply, OutsideFailed> => {
  const fail = (reason: string) => Effect.fail(failed(agent, reason, null, usd ?? 0))
  if (error != null) return fail(`reports: ${PlainText.escape(redacted(error).slice(0, 1000))}`)
  if (output === undefined) return fail(`answered without an output; expected ${expected}`)
  return Effect.succeed({
    output,
    ...(score == null ? {} : { score }),
    ...(feedback == null ? {} : { feedback }),
    ...(usd == null ? {} : { usd }),
    ...(metrics == null ? {} : { metrics })
  })
}

/** Which agent a text names: {@link parent} is the process that started inspo. */
export type Named =
  | { readonly kind: "program"; readonly command: readonly [string, ...ReadonlyArray<string>] }
  | { readonly kind: "endpoint"; readonly url: string }
  | { readonly kind: "function"; readonly file: string; readonly name: string }
  | { readonly kind: "parent" }

/** Reads `python agent.py`, `http://127.0.0.1:8000/run`, `./agent.ts#run` or `-`; none for an empty text. */
export const parse = (text: string): Option.Option<Named> => {
  const [program, ...rest] = text.split(/\s+/u).filter(Boolean)
  if (program === undefined) return Option.none()
  if (text === "-") return Option.some({ kind: "parent" })
  if (/^https?:/iu.test(program))
    return rest.length === 0 ? Option.some({ kind: "endpoint", url: program }) : Option.none()
  const [, file = "", name = ""] = /^(.+\.[cm]?[jt]s)#(\w+)$/u.exec(text) ?? []
  return Option.some(file === "" ? { kind: "program", command: [program, ...rest] } : { kind: "function", file, name })
}
