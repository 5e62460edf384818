import { Instruction } from "@inspo/domain"
import type { MakeCall } from "@inspo/reflection"
import { Effect } from "effect"
import * as Aim from "./Aim.ts"
import * as Calls from "./Calls.ts"
import * as Log from "./Log.ts"
import * as Proposing from "./Proposing.ts"
import * as Protected from "./Protected.ts"
import * as Result from "./Result.ts"
import * as Search from "./Search.ts"
import { textOf } from "./SearchView.ts"
import type { EvolveOptions, FileOptions, Prompt, Row } from "./Setup.ts"
import * as Sessions from "./Sessions.ts"
import * as Setup from "./Setup.ts"
import * as Shell from "./Shell.ts"
import * as Viewing from "./Viewing.ts"

export { AgentFailed, ScoreFailed } from "./Calls.ts"
export { FileFailed } from "./Log.ts"
export { compare } from "./Compare.ts"
export type { CompareOptions, CompareProgress } from "./Compare.ts"
export type { CompareResult } from "./CompareReport.ts"
export type { Compared } from "./CompareResult.ts"
export type { EvolveResult, Tried } from "./Result.ts"
export type { Gain } from "./SearchView.ts"
export type { AiSdkModel, CallContext, Complete, Completion, EvolveOptions, Progress, Prompt, Scored } from "./Setup.ts"

/**
 * Searches for a prompt that is better than the one that was given, by the scores of an agent on cases. The prompts are compared on
 * the same cases; half of the cases are held out, and decide at the end whether the leader is better. If it is not, the prompt stays.
 *
 * Rejects with `InvalidInput` on options that cannot work, `AgentFailed`, `ScoreFailed`, `ProposerError` or `FileFailed`, and
 * with the reason of `signal` when it aborts. With a `file`, calling it again continues where it stopped.
 *
 * @example
 * ```ts
 * import { evolve } from "@inspo/evolve"
 *
 * const result = await evolve({
 *   prompt: "Name the capital.",
 *   cases: ["France", "Italy", "Spain", "Japan", "Peru", "Kenya", "Chile", "Cuba", "Ghana", "Nepal"].map((country) => ({ country })),
 *   agent: (prompt, { country }) => (prompt.includes("one word") ? country.toUpperCase() : `It is ${country}.`),
 *   score: (output, { country }) => Number(output === country.toUpperCase()),
 *   proposer: ["Answer in one word.", "Be polite."],
 *   budget: { calls: 60 }
 * })
 * result.verdict // "better"
 * ```
 */
export function evolve<const P extends Prompt, Output>(
  options: FileOptions<P, Output>
): Promise<Result.EvolveResult<P, Row>>
export function evolve<const P extends Prompt, Case, Output>(
  options: EvolveOptions<P, Case, Output>
): Promise<Result.EvolveResult<P, Case>>
export async function evolve(options: AnyOptions): Promise<Result.EvolveResult<Prompt, unknown>> {
  return Shell.promise(Effect.scoped(run(options)), options.signal)
}

interface AnyOptions extends Omit<EvolveOptions<Prompt, unknown, unknown>, "cases"> {
  readonly cases: string | Iterable<unknown>
}

const run = Effect.fn("evolve")(function* (options: AnyOptions) {
  Shell.assertOptions("evolve", options)
  Shell.assertSearch(options)
  const { distinct: cases, repeated } = yield* Shell.casesOf(options.cases)
  const what = options.control === undefined ? (options.aim ?? "better") : "no-worse"
  const setup = Setup.begin({
    prompt: Shell.contentOf("evolve", "prompt", options.prompt),
    cases: cases.length,
    guarded: Protected.indices(cases),
    sessions: Sessions.of(cases),
    calls: options.budget.calls,
    usd: options.budget.usd ?? null,
    minimalGain: options.minimalGain ?? 0.1,
    randomSeed: options.randomSeed ?? 1,
    aim: what === "better" ? undefined : { what, margin: options.margin ?? 0.05, saving: options.saving ?? 0.1 }
  })
  const limits = Shell.limitsOf("evolve", options)
  const { file, identity = {} } = options
  const progress = Viewing.following()
  const log = yield* Log.open(Log.ofSearch(setup), file === undefined ? null : { file, identity, cases }, (state) =>
    options.onProgress?.(progress(state))
  )
  const target = {
    ...targetOf(options, cases, (id) => Instruction.contentOf(Search.promptOf(log.state(), id))),
    measures: what === "cheaper" || what === "no-worse"
  }
  const left = () => (setup.usd === null ? null : setup.usd - log.state().usd)
  const bill: Proposing.Bill = {
    usd: 0,
    left: null,
    atMost: (request) => options.proposalAtMost?.(request, left()) ?? null,
    begin: () => Effect.void
  }
  const proposer = Proposing.make(
    options.proposer,
    options.proposerKind,
    limits.retries,
    bill,
    Aim.demands(setup.aim, log.state().prompts[0])
  )
  const makeCall = paidOnce(log, bill, left)
  const expected = cases.flatMap((one) => expectedOf(one) ?? [])

  for (;;) {
    const state = log.state()
    const due = Search.next(state)
    switch (due._tag) {
      case "Conclude":
        return Result.make(
          Viewing.viewOf({ head: { ...setup, identity, cases: [] }, state, events: log.events, rounds: [] }),
          cases,
          repeated
        )
      case "Decide":
        yield* log.write(due.event)
        break
      case "Ask": {
        const round = { ...limits, usd: left(), calls: Search.mostCalls(state) }
        yield* Calls.perform(target, round, due.asks, log, log.write)
        break
      }
      case "Rescore":
        yield* Calls.rescore(target, { ...limits, usd: left(), calls: 0 }, due.asks, log.outputs, log.write)
        break
      case "Propose": {
        const task = {
          ...due,
          state,
          outputs: log.outputs,
          expected,
          keep: options.keep ?? [],
          makeCall,
          show: (index: number) => shown(cases[index])
        }
        for (const event of yield* Effect.provide(Proposing.propose(task), proposer)) yield* log.write(event)
        break
      }
    }
  }
})

/** A request of the proposer that was answered before is answered from the log. */
const paidOnce =
  (
    { write, written }: Log.Log<Search.State>,
    bill: Proposing.Bill,
    left: () => number | null
  ): MakeCall<Log.FileFailed> =>
  ({ key }, ask) => {
    const known = written.get(key)
    if (known !== undefined) return Effect.succeed(known)
    bill.usd = 0
    bill.left = left()
    // A proposer skips what fails; a file that cannot be written ends the search.
    bill.begin = (atMost) => Effect.orDie(write({ _tag: "Started", kind: "proposer", key, atMost }))
    return ask.pipe(
      Effect.tapError(() => write({ _tag: "Failed", kind: "proposer", key, usd: bill.usd })),
      Effect.map((answer) => ({ ...answer, spent: { ...answer.spent, usd: bill.usd } })),
      Effect.tap((answer) => write({ _tag: "Written", key, answer }))
    )
  }

const targetOf = (
  options: AnyOptions,
  cases: ReadonlyArray<unknown>,
  promptOf: (id: Instruction.InstructionId) => Prompt
): Calls.Target => ({
  controls: [Search.original, Search.replaced],
  cases: cases.length,
  agent: ({ case: index, prompt }, context) =>
    prompt === Search.replaced && options.control !== undefined
      ? options.control.agent(cases[index], context)
      : options.agent(promptOf(prompt), cases[index], context),
  score: (output, { case: index }, context) => options.score(output, cases[index], context),
  atMost: ({ case: index, prompt }) =>
    (prompt === Search.replaced
      ? options.control?.atMost?.(cases[index])
      : options.atMost?.(promptOf(prompt), cases[index])) ?? null
})

/** A case as a proposer reads it, without what it says of itself: its input alone, if it has nothing else. */
const shown = (one: unknown): { readonly task: string; readonly expected: string | null } => {
  const expected = expectedOf(one)
  if (typeof one !== "object" || one === null) return { task: textOf(one), expected }
  const fields = Object.entries(one).filter(([name]) => !["expected", "protected", "session"].includes(name))
  const [only, ...others] = fields
  const isInput = only?.[0] === "input" && others.length === 0
  return { task: textOf(isInput ? only[1] : Object.fromEntries(fields)), expected }
}

/** The answer that a case expects, if it says so in a field of that name. */
const expectedOf = (one: unknown): string | null => {
  const value = typeof one === "object" && one !== null ? Reflect.get(one, "expected") : undefined
  return value === undefined || value === null ? null : textOf(value)
}

// Names for the types in declarations of programs: TypeScript names none in a namespace.
export type { StoredComparison } from "./Compare.ts"
export type { Answers, Cluster } from "./Evidence.ts"
export type { State } from "./Search.ts"
export type { Aim } from "./SearchView.ts"
export type { Stored } from "./Stored.ts"
