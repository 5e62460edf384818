/** Calls of the agent and of the score: at most so many at a time, repeated where they fail, and never beyond the budget in US dollars. */
import { isDeepStrictEqual } from "node:util"
import { DollarBudget } from "@inspo/ledger"
import { Clock, Duration, Effect, Exit, Schema } from "effect"
import type { Instruction } from "@inspo/domain"
import { againKey, type Ask, type Event, type EventOf, keyOf, type Obtained, type Started } from "./Event.ts"
import { describe, type FileFailed, type Log } from "./Log.ts"
import type { CallContext, RetryAfter, Scored } from "./Setup.ts"

/** The agent fails, so no prompt can be compared. What was answered so far is in the file of the search. */
export class AgentFailed extends Schema.TaggedError<AgentFailed>()("AgentFailed", {
  case: Schema.Int,
  attempts: Schema.Int,
  cause: Schema.Defect()
}) {
  override get message() {
    return `the agent failed on case ${this.case} after ${this.attempts} ${this.attempts === 1 ? "attempt" : "attempts"}: ${describe(this.cause)}`
  }
}

/** The score of an output is missing or invalid. The output was paid for and is in the file of the search: it is scored again from there. */
export class ScoreFailed extends Schema.TaggedError<ScoreFailed>()("ScoreFailed", {
  case: Schema.Int,
  cause: Schema.Defect()
}) {
  override get message() {
    return `score of case ${this.case}: ${describe(this.cause)}`
  }
}

/** What is called, with the cases and prompts already looked up. */
export interface Target {
  readonly agent: (ask: Ask, context: CallContext) => unknown
  readonly score: (output: unknown, ask: Ask, context: CallContext) => Promise<number | Scored> | number | Scored
  /** The most that a call and its score can cost in US dollars; null if that is not known. */
  readonly atMost: (ask: Ask) => number | null
  /** The prompts without whose answers nothing can be shown. */
  readonly controls: ReadonlyArray<Instruction.InstructionId>
  readonly cases: number
  /** Whether the price and the latency of each call are recorded, with the numbers that come with its score. */
  readonly measures?: boolean
}

export interface Limits extends Policy {
  readonly concurrency: number
  readonly timeoutSeconds: number
  /** US dollars left when the calls begin; null for no limit. */
  readonly usd: number | null
  /** Calls of the agent that may be made. */
  readonly calls: number
}

/** What happens is recorded as it happens; events that are written together are on the disk together. */
export type Write = (
  ...events: ReadonlyArray<EventOf<"Started" | "Obtained" | "Answered" | "Missed" | "Failed" | "RoundCut" | "Rescored">>
) => Effect.Effect<void, FileFailed>

/**
 * Makes the calls of a round. The outputs of the log are not obtained again. Fails if a control never answered, in an outage, and if a score is invalid:
 * calls that run are then waited for, since their outputs are paid for.
 */
export const perform = Effect.fn("Calls.perform")(function* (
  target: Target,
  limits: Limits,
  asks: ReadonlyArray<Ask>,
  { events, outputs }: Pick<Log<never>, "events" | "outputs">,
  write: Write
) {
  yield* Effect.annotateCurrentSpan({ calls: asks.length })
  const round: Round = { target, limits, write, failed: [], fatal: null, answered: false, isCut: false }
  const one = within(round, outputs)
  // Where the price of a call is unknown before the first, it is made alone.
  const isUnpriced = limits.usd !== null && asks.some((ask) => target.atMost(ask) === null)
  yield* Effect.forEach(isUnpriced ? asks.slice(0, 1) : [], one, { discard: true })
  yield* Effect.forEach(isUnpriced ? asks.slice(1) : asks, one, { concurrency: limits.concurrency, discard: true })

  const { failed } = round
  const failure = round.fatal ?? silenceOf(round, events)
  if (failure !== undefined) {
    yield* write(...failed.map(({ ask, usd }) => ({ _tag: "Failed", kind: "agent", key: keyOf(ask), usd }) as const))
    return yield* Effect.fail(failure)
  }
  yield* write(
    ...failed.map((one) => ({ _tag: "Missed", ...one.ask, reason: one.failure.message, usd: one.usd }) as const)
  )
  if (round.isCut) yield* write({ _tag: "RoundCut" })
})

/** A round while its calls run. */
interface Round {
  readonly target: Target
  readonly limits: Limits
  readonly write: Write
  readonly failed: Array<{ readonly ask: Ask; readonly failure: AgentFailed; readonly usd: number }>
  /** What ends the search; no call starts after it. */
  fatal: AgentFailed | ScoreFailed | null
  answered: boolean
  isCut: boolean
}

/**
 * Why there is no answer: to a control, ever, or of late to several prompts, each on several cases, as in an outage. One case or one
 * prompt among others can fail for good, and counts as missing.
 */
const silenceOf = ({ answered, failed, target }: Round, events: ReadonlyArray<Event>): AgentFailed | undefined => {
  /** The prompts that lost several cases. */
  const silent = (since: ReadonlyArray<Event>) => {
    const lost = [...since.filter((one) => one._tag === "Missed"), ...failed.map(({ ask }) => ask)]
    const casesOf = (id: string) => new Set(lost.flatMap((one) => (one.prompt === id ? [one.case] : [])))
    const prompts = new Set(lost.map(({ prompt }) => prompt))
    return [...prompts].filter((id) => casesOf(id).size >= Math.min(2, target.cases))
  }
  const heard = new Set(events.flatMap((one) => (one._tag === "Answered" ? [one.prompt] : [])))
  const late = events.slice(events.findLastIndex(({ _tag }) => _tag === "Answered") + 1)
  const isOutage = !answered && silent(late).length > 1
  const mute = new Set(silent(events).filter((id) => target.controls.includes(id) && !heard.has(id)))
  return failed.find(({ ask }) => isOutage || mute.has(ask.prompt))?.failure
}

/** Makes a call, and scores its output, as far as the budgets of the round allow. */
const within = (round: Round, known: ReadonlyMap<string, Obtained>) => {
  const money = DollarBudget.make(round.limits.usd)
  let callsLeft = round.limits.calls
  return Effect.fnUntraced(function* (ask: Ask) {
    const found = known.get(keyOf(ask))
    const earlier = found?.isWhole === true ? found : null
    if (round.fatal !== null || (round.isCut && earlier === null)) return
    const bills = { call: { usd: 0 }, score: { usd: 0 } }
    const purse = purseOf(money, bills)
    const isPaid = yield* purse.open(mostOf(round.target, ask, earlier))
    if (!isPaid || (earlier === null && callsLeft <= 0)) round.isCut = true
    // While this call waited for the budget, another one can have failed.
    if (!isPaid || round.fatal !== null || (earlier === null && round.isCut)) return purse.close()
    if (earlier === null) callsLeft -= 1
    const again = (most: number | null) =>
      Effect.tap(purse.open(most), (isAllowed) => Effect.sync(() => (round.isCut ||= !isAllowed)))
    yield* answer(round, ask, earlier, bills, { again, largest: money.largest }).pipe(
      Effect.catch((failure) => {
        if (failure._tag === "FileFailed") return Effect.fail(failure)
        round.fatal ??= failure
        return Effect.void
      }),
      // What an interrupted call costs is not known: nothing may start with the money that was kept for it.
      Effect.onExit((exit) => (Exit.hasInterrupts(exit) ? Effect.void : Effect.sync(purse.close)))
    )
  })
}

/** Keeps money for one attempt of a call at a time; `open` says whether there is enough. */
const purseOf = (money: DollarBudget.DollarBudget, { call, score }: Bills) => {
  let settle: ((usd: number) => void) | null = null
  let settled = 0
  const close = () => {
    settle?.(call.usd + score.usd - settled)
    settle = null
    settled = call.usd + score.usd
  }
  const open = (most: number | null) =>
    Effect.suspend(() => {
      close()
      return Effect.map(money.reserve(most), (found) => (settle = found) !== null)
    })
  return { open, close }
}

const answer = Effect.fnUntraced(function* (
  round: Round,
  ask: Ask,
  earlier: Obtained | null,
  bills: Bills,
  repeats: Pick<Repeats, "again" | "largest">
) {
  const { failed, limits, target, write } = round
  const key = keyOf(ask)
  const most = mostOf(target, ask, earlier)
  const scoring = (): Started => ({
    _tag: "Started",
    kind: "score",
    key,
    atMost: most === null ? null : Math.max(0, most - bills.call.usd)
  })
  const scored = Effect.fnUntraced(function* (output: unknown, measured: Obtained["metrics"]) {
    const { metrics: more, ...found } = yield* scoreOf(round, ask, key, output, bills.score, {
      ...repeats,
      most: scoring().atMost
    })
    const metrics = target.measures === true ? { metrics: { ...measured, ...more } } : {}
    yield* write({ _tag: "Answered", ...ask, ...found, usd: bills.score.usd, ...metrics })
    round.answered = true
  })
  if (earlier !== null) {
    yield* write(scoring())
    return yield* scored(earlier.output, earlier.metrics)
  }
  yield* write({ _tag: "Started", kind: "agent", key, atMost: most })
  const clock = yield* Clock.Clock
  let began = 0
  const run = (context: CallContext) => {
    began = clock.currentTimeMillisUnsafe()
    return target.agent(ask, context)
  }
  // What all attempts can cost counts where a process ends before their price is written.
  const again = (each: number | null) =>
    Effect.tap(repeats.again(each), () => {
      const atMost = each === null ? null : bills.call.usd + each
      return Effect.orDie(write({ _tag: "Started", kind: "agent", key, atMost }))
    })
  const found = yield* Effect.result(call(limits, bills.call, key, run, { ...repeats, again, most }))
  const metrics = { usd: bills.call.usd, latency: (clock.currentTimeMillisUnsafe() - began) / 1000 }
  if (found._tag === "Failure") {
    const { attempts, cause } = found.failure
    const failure = new AgentFailed({ case: ask.case, attempts, cause })
    failed.push({ ask, failure, usd: bills.call.usd })
    return isPermanent(cause) && !ofCase.has(Number(statusOf(cause))) ? yield* failure : undefined
  }
  const json = asJson(found.success)
  const output = json === undefined ? String(found.success) : json
  const obtained: Obtained = {
    _tag: "Obtained",
    ...ask,
    output,
    isWhole: json !== undefined,
    usd: bills.call.usd,
    ...(target.measures === true ? { metrics } : {})
  }
  if (round.fatal !== null) return yield* write(obtained)
  yield* write(obtained, scoring())
  return yield* scored(found.success, metrics)
})

interface Bills {
  readonly call: DollarBudget.Bill
  readonly score: DollarBudget.Bill
}

/** Scores outputs once more, as far as the budget in US dollars allows. */
export const rescore = Effect.fn("Calls.rescore")(function* (
  target: Target,
  limits: Limits,
  asks: ReadonlyArray<Ask>,
  outputs: ReadonlyMap<string, Obtained>,
  write: Write
) {
  yield* Effect.annotateCurrentSpan({ scores: asks.length })
  const money = DollarBudget.make(limits.usd)
  let isCut = false
  const one = Effect.fnUntraced(function* (ask: Ask) {
    const obtained = outputs.get(keyOf(ask))
    if (isCut || obtained === undefined) return
    const most = target.atMost(ask)
    const bill = { usd: 0 }
    const purse = purseOf(money, { call: { usd: 0 }, score: bill })
    const isPaid = yield* purse.open(most)
    if (!isPaid || isCut) {
      isCut = true
      return purse.close()
    }
    const key = againKey(ask)
    yield* write({ _tag: "Started", kind: "score", key, atMost: most })
    const repeats = { most, again: purse.open, largest: money.largest }
    const { score } = yield* scoreOf({ target, limits, write }, ask, key, obtained.output, bill, repeats)
    yield* write({ _tag: "Rescored", ...ask, score, usd: bill.usd })
    purse.close()
  })
  yield* Effect.forEach(asks, one, { concurrency: limits.concurrency, discard: true })
  if (isCut) yield* write({ _tag: "RoundCut" })
})

/** The most that a call and its score can still cost; null if that is not known. */
const mostOf = (target: Target, ask: Ask, earlier: Obtained | null): number | null => {
  const most = target.atMost(ask)
  if (earlier === null) return most
  return most === null ? 0 : Math.max(0, most - earlier.usd)
}

/** Scores an output under a key; records what a score that fails did cost. */
const scoreOf = (
  { limits, target, write }: Pick<Round, "target" | "limits" | "write">,
  ask: Ask,
  key: string,
  output: unknown,
  bill: DollarBudget.Bill,
  repeats: Repeats
) =>
  call(limits, bill, key, (context) => target.score(output, ask, context), repeats).pipe(
    Effect.flatMap((found) => {
      const { score, ...said } = isScored(found) ? found : { score: found }
      const [feedback, metrics] = [said.feedback ?? null, said.metrics ?? {}]
      if (feedback !== null && typeof feedback !== "string")
        return Effect.fail({ cause: new RangeError(`its feedback is ${String(feedback)}; expected a text`) })
      const strange = Object.entries(metrics).find(([, value]) => !Number.isFinite(value))
      if (strange !== undefined)
        return Effect.fail({ cause: new RangeError(`its ${strange[0]} is ${strange[1]}; expected a number`) })
      return typeof score === "number" && score >= 0 && score <= 1
        ? Effect.succeed({ score, feedback, metrics })
        : Effect.fail({ cause: new RangeError(`it is ${String(score)}; expected a number in [0, 1]`) })
    }),
    Effect.mapError(({ cause }) => new ScoreFailed({ case: ask.case, cause })),
    Effect.tapError(() => write({ _tag: "Failed", kind: "score", key, usd: bill.usd }))
  )

/** Functions of JavaScript may return anything. */
const isScored = (found: unknown): found is Scored => typeof found === "object" && found !== null

/** What an attempt can cost, and whether the budget allows another one; where the price is unknown, it is the largest so far. */
interface Repeats {
  readonly most: number | null
  readonly again: (most: number | null) => Effect.Effect<boolean>
  readonly largest: () => number
}

/** Calls a function of the user, whose prices go to the bill. Nobody knows what an attempt cost that was too late: it counts as the most. */
const call = <A>(
  { timeoutSeconds, ...policy }: Limits,
  bill: DollarBudget.Bill,
  key: string,
  run: (context: CallContext) => Promise<A> | A,
  { again, largest, most }: Repeats
): Effect.Effect<A, AttemptsFailed> => {
  const pay = DollarBudget.spending(bill)
  let before = 0
  return repeated(
    { ...policy, again: again(most) },
    (signal, attempt) => {
      before = bill.usd
      return run({ signal, spend: (usd) => (signal.aborted ? undefined : pay(usd)), attempt, key })
    },
    Duration.seconds(timeoutSeconds),
    () => (bill.usd = Math.max(bill.usd, before + (most ?? largest())))
  )
}

/** A value that JSON keeps as it is; undefined for others. */
const asJson = (value: unknown): Schema.Json | undefined => {
  if (typeof value === "string") return value
  try {
    const text = JSON.stringify(value)
    const copy = text === undefined ? undefined : decodeJson(text)
    return isDeepStrictEqual(copy, value) ? copy : undefined
  } catch {
    return undefined
  }
}

const decodeJson = Schema.decodeSync(Schema.fromJsonString(Schema.Json))

/** Reads `Retry-After` from the headers of an error, as the SDKs of the providers and the AI SDK carry them. */
export const retryAfter: RetryAfter = (error) => {
  const headers =
    property(error, "responseHeaders") ?? property(error, "headers") ?? property(property(error, "response"), "headers")
  const value = headers instanceof Headers ? headers.get("retry-after") : property(headers, "retry-after")
  const seconds = typeof value === "string" ? Number(value) : NaN
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}

/** Whether another attempt cannot help: the provider refuses the key or the request. */
export const isPermanent = (error: unknown): boolean => {
  const status = statusOf(error)
  return typeof status === "number" && status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status)
}

const statusOf = (error: unknown): unknown => property(error, "statusCode") ?? property(error, "status")

/** The statuses of a request that is refused for what it says, such as by a filter: other cases may be answered. */
const ofCase = new Set([400, 413, 422])

/** How often a function is repeated, and how long after an error. */
export interface Policy {
  readonly retries: number
  readonly retryAfter: RetryAfter
  /** Whether another attempt may be made. */
  readonly again?: Effect.Effect<boolean>
}

/** A function failed in all its attempts, or for good. */
export class AttemptsFailed extends Schema.TaggedError<AttemptsFailed>()("AttemptsFailed", {
  attempts: Schema.Int,
  cause: Schema.Defect()
}) {}

/** Calls a function until it succeeds, or its repetitions are used up. An attempt that takes longer than `limit` is `late`, and fails. */
export const repeated = <A>(
  { again = Effect.succeed(true), retries, retryAfter }: Policy,
  run: (signal: AbortSignal, attempt: number) => Promise<A> | A,
  limit: Duration.Duration = Duration.infinity,
  late: () => void = () => {}
): Effect.Effect<A, AttemptsFailed> => {
  const attempt = (count: number): Effect.Effect<A, AttemptsFailed> => {
    const failed = (cause: unknown) => new AttemptsFailed({ attempts: count + 1, cause })
    return Effect.tryPromise({ try: async (signal) => run(signal, count), catch: failed }).pipe(
      Effect.timeoutOrElse({
        duration: limit,
        orElse: () => {
          late()
          return Effect.fail(failed(new Error(`no answer within ${Duration.toSeconds(limit)} s`)))
        }
      }),
      Effect.catch((failure) =>
        count >= retries || isPermanent(failure.cause)
          ? Effect.fail(failure)
          : Effect.sleep(Duration.seconds(retryAfter(failure.cause) ?? pause(count))).pipe(
              Effect.andThen(again),
              Effect.flatMap((isAllowed) => (isAllowed ? attempt(count + 1) : Effect.fail(failure)))
            )
      )
    )
  }
  return attempt(0)
}

/** Pauses of half a second, one, two … up to 30 seconds. */
const pause = (attempt: number): number => Math.min(30, 0.5 * 2 ** attempt)

const property = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
