/** Compares prompts with a control: asks what is due, until the answers decide. */
import { type Instruction, Invariant } from "@inspo/domain"
import { type Array as Arr, Effect, Option, Schema, Struct } from "effect"
import * as AnswerCache from "./AnswerCache.ts"
import * as Calls from "./Calls.ts"
import * as Comparison from "./Comparison.ts"
import * as Constraint from "./Constraint.ts"
import * as CompareReport from "./CompareReport.ts"
import * as CompareResult from "./CompareResult.ts"
import { type Ask, keyOf, type Obtained } from "./Event.ts"
import * as Log from "./Log.ts"
import type { EvolveOptions, Prompt } from "./Setup.ts"
import * as Protected from "./Protected.ts"
import * as Sessions from "./Sessions.ts"
import * as Shell from "./Shell.ts"

/**
 * - `control`: the prompt in use. Named texts, such as `{ prompt, model }`, compare whatever the agent makes of them.
 * - `candidates`: what is compared with it. The control itself among them shows what noise alone does.
 * - `cases`: objects, or the path of a CSV or JSONL file. A candidate that loses one with `protected: true` is worse.
 *   Cases with the same `session` are one observation, since what changes one of them often changes all.
 * - `agent`, `score`: as for `evolve`.
 */
export interface CompareOptions<P extends Prompt, Case, Output> extends Pick<
  EvolveOptions<P, Case, Output>,
  | "agent"
  | "score"
  | "atMost"
  | "identity"
  | "file"
  | "concurrency"
  | "timeoutSeconds"
  | "retries"
  | "retryAfter"
  | "randomSeed"
  | "signal"
> {
  readonly control: P
  readonly candidates: ReadonlyArray<P>
  readonly cases: string | Iterable<Case>
  /** The loss that does not count as worse, and the gain that is of no interest; 0.05, five points, by default. */
  readonly margin?: number
  /** Answers of each prompt to each case; 1 by default. Several answers to a case are one difference. */
  readonly samples?: number
  /** `anytime`, by default, ends as soon as the answers decide; `final` asks all cases, and looks once. */
  readonly looks?: Comparison.Looks
  /**
   * What numbers beside the score may be at most, such as `usd=+0%`, `latency.p95=2s`, `length=-10%`, or a metric that `score` returns. A
   * candidate that is shown to break one is worse; it is no worse only where all are shown to hold.
   */
  readonly constraints?: ReadonlyArray<string>
  /** What is asked: the comparison ends when it is known. */
  readonly requirement?: Comparison.Requirement
  readonly budget?: { readonly calls?: number; readonly usd?: number }
  /** A directory of answers that later comparisons use again; `agent` names all that an answer depends on besides prompt and case. */
  readonly cache?: { readonly directory: string; readonly agent: Readonly<Record<string, string>> }
  readonly onProgress?: (progress: CompareProgress) => void
}

export interface CompareProgress extends Pick<Comparison.State, "usd" | "lost" | "cached"> {
  readonly calls: number
  readonly budget: number
  /** Cases that were asked, and all. */
  readonly cases: number
  readonly of: number
}

/**
 * Says of each candidate whether it is better than the control, no worse or worse, from answers to the same cases. Each of these is wrong
 * with a probability of at most 5 %, for all candidates together, although it looks after every few cases and stops when it knows.
 *
 * Rejects as `evolve` does. With a `file`, calling it again continues where it stopped.
 *
 * @example
 * ```ts
 * import { compare } from "@inspo/evolve"
 *
 * const { candidates, report } = await compare({
 *   control: "Name the capital.",
 *   candidates: ["Name the capital. Answer in one word."],
 *   cases: ["France", "Italy", "Spain", "Japan", "Peru", "Kenya", "Chile", "Cuba"].map((country) => ({ country })),
 *   agent: (prompt, { country }) => (prompt.includes("one word") ? country.toUpperCase() : `It is ${country}.`),
 *   score: (output, { country }) => Number(output === country.toUpperCase())
 * })
 * candidates[0]?.verdict // "better"
 * ```
 */
export function compare<const P extends Prompt, Case, Output>(
  options: CompareOptions<P, Case, Output>
): Promise<CompareReport.CompareResult>
export function compare(options: AnyOptions): Promise<CompareReport.CompareResult> {
  return Shell.promise(Effect.scoped(run(options)), options.signal)
}

interface AnyOptions extends Omit<CompareOptions<Prompt, unknown, unknown>, "cases"> {
  readonly cases: string | Iterable<unknown>
}

const run = Effect.fn("compare")(function* (options: AnyOptions) {
  Shell.assertOptions("compare", options)
  const { distinct: cases, repeated } = yield* Shell.casesOf(options.cases)
  const { file, identity = {}, samples = 1 } = options
  const arms: Arr.NonEmptyReadonlyArray<Instruction.Content> = [
    Shell.contentOf("compare", "control", options.control),
    ...options.candidates.map((one) => Shell.contentOf("compare", "candidates", one))
  ]
  const guarded = Protected.indices(cases)
  const { constraints } = options
  const own = constraints === undefined ? {} : { constraints }
  const setup = Comparison.make(
    {
      arms,
      samples,
      ...own,
      margin: options.margin ?? 0.05,
      looks: options.looks ?? "anytime",
      requirement: options.requirement ?? null,
      calls: options.budget?.calls ?? null,
      usd: options.budget?.usd ?? null,
      randomSeed: options.randomSeed ?? 1
    },
    cases.length,
    guarded,
    Sessions.of(cases)
  )
  const limits = Shell.limitsOf("compare", options)
  const log = yield* Log.open(subjectOf(setup), file === undefined ? null : { file, identity, cases }, (state) =>
    options.onProgress?.({
      ...Struct.pick(state, ["usd", "lost", "cached"]),
      calls: state.made,
      budget: Comparison.mostCalls(state),
      cases: state.asked,
      of: cases.length
    })
  )
  const promptOf = ({ prompt }: Ask) => Invariant.at(arms, Comparison.place(setup, prompt), "prompt")
  const known = yield* knownTo(options.cache, setup, promptOf, cases)
  const target: Calls.Target = {
    agent: (ask, context) => options.agent(promptOf(ask), cases[ask.case], context),
    score: (output, ask, context) => options.score(output, cases[ask.case], context),
    atMost: (ask) => options.atMost?.(promptOf(ask), cases[ask.case]) ?? null,
    controls: [Comparison.control],
    cases: cases.length,
    measures: true
  }
  const write: Calls.Write = (...events) =>
    Effect.andThen(
      log.write(...events),
      Effect.forEach(events, (event) => (event._tag === "Obtained" ? known.keep(event) : Effect.void), {
        discard: true
      })
    )
  for (;;) {
    const state = log.state()
    const due = Comparison.next(state)
    if (due._tag === "Conclude") return CompareReport.withReport(CompareResult.make(state, cases, repeated))
    if (due._tag === "Decide") {
      if (state.rounds === 1) Constraint.assertKnown(setup.constraints, state.answers.outcomes)
      yield* log.write(due.event)
      continue
    }
    for (const ask of due.asks) {
      if (log.outputs.has(keyOf(ask))) continue
      const answer = yield* known.find(ask)
      if (Option.isSome(answer)) yield* log.write(answer.value)
    }
    const { settings } = setup
    const left = settings.usd === null ? null : settings.usd - log.state().usd
    const round = { ...limits, usd: left, calls: Comparison.callsLeft(log.state()) }
    yield* Calls.perform(target, round, due.asks, log, write)
  }
})

const subjectOf = (setup: Comparison.Setup) => ({
  ...form,
  fixed: setup.settings,
  begin: Comparison.begin(setup),
  apply: Comparison.apply
})

const Head = Schema.Struct({
  ...Comparison.Settings.fields,
  cases: Schema.Array(Schema.Json),
  identity: Schema.Record(Schema.String, Schema.String)
})

const form: Log.Form<typeof Head.Type> = {
  format: { name: "inspo-compare", version: 1, of: "a comparison" },
  decodeHead: Schema.decodeUnknownEffect(Head)
}

/** A comparison in its file, and what it shows so far. */
export interface StoredComparison {
  readonly _tag: "Comparison"
  readonly settings: Comparison.Settings
  readonly state: Comparison.State
  readonly cases: ReadonlyArray<Schema.Json>
  /** What was answered, by call. */
  readonly outputs: ReadonlyMap<string, Schema.Json>
  readonly identity: Readonly<Record<string, string>>
  readonly isDone: boolean
  readonly result: CompareReport.CompareResult
  /** What was found of a candidate, and what it cost, in words. */
  readonly sentenceOf: (candidate: CompareResult.Compared) => string
  readonly costs: string
}

/** Reads the file of a comparison, which another process may write meanwhile. */
export const read = Effect.fn("Compare.read")(function* (
  file: string
): Effect.fn.Return<StoredComparison, Log.FileFailed> {
  const { events, head } = yield* Log.read(file, form)
  const { cases, identity } = head
  let state = Comparison.begin(Comparison.make(head, cases.length, Protected.indices(cases), Sessions.of(cases)))
  yield* Log.follow(file, events, 0, (event) => (state = Comparison.apply(state, event)))
  const result = CompareReport.withReport(CompareResult.make(state, cases, 0))
  return {
    _tag: "Comparison",
    settings: head,
    state,
    cases,
    outputs: new Map(events.flatMap((event) => (event._tag === "Obtained" ? [[keyOf(event), event.output]] : []))),
    identity,
    isDone: Comparison.next(state)._tag === "Conclude",
    result,
    sentenceOf: (candidate) => CompareReport.sentence(result, candidate),
    costs: CompareReport.costs(result)
  }
})

/** The answers that a cache knows; none without a cache. A prompt that is compared with itself gets other answers. */
const knownTo = (
  cache: AnyOptions["cache"],
  setup: Comparison.Setup,
  promptOf: (ask: Ask) => Prompt,
  cases: ReadonlyArray<unknown>
) =>
  Effect.sync(() => {
    if (cache === undefined) return { find: () => Effect.succeedNone, keep: () => Effect.void }
    const answers = AnswerCache.inDirectory(cache.directory)
    const { arms, samples } = setup.settings
    const questionOf = (ask: Ask): AnswerCache.Question => {
      const same = arms
        .slice(0, Comparison.place(setup, ask.prompt))
        .filter((one) => isEqual(one, promptOf(ask))).length
      return { agent: cache.agent, prompt: promptOf(ask), case: cases[ask.case], sample: same * samples + ask.sample }
    }
    return {
      find: (ask: Ask) =>
        Effect.map(
          answers.find(questionOf(ask)),
          Option.map(({ answer: output, ...measured }): Obtained => ({
            _tag: "Obtained",
            ...ask,
            output,
            isWhole: true,
            usd: 0,
            isCached: true,
            ...measured
          }))
        ),
      keep: (event: Obtained) => (event.isWhole ? answers.keep(questionOf(event), keptOf(event)) : Effect.void)
    }
  })

const keptOf = ({ metrics, output }: Obtained) => ({ answer: output, ...(metrics === undefined ? {} : { metrics }) })

const isEqual = (one: Prompt, other: Prompt): boolean => JSON.stringify(one) === JSON.stringify(other)
