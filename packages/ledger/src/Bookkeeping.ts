import { Journal, type JournalError, type Records } from "@inspo/journal"
import { Array as Arr, Clock, Effect, Ref, Result, Schema, Semaphore } from "effect"
import * as Ledger from "./Ledger.ts"

/** The run reached a limit of its budget before the next piece of work; everything until then is saved. */
export class BudgetReached extends Schema.TaggedError<BudgetReached>()("BudgetReached", {
  cap: Ledger.Cap,
  limit: Schema.Finite,
  spent: Schema.Finite,
  phase: Ledger.Phase
}) {
  override get message() {
    const { cap, limit, phase, spent } = this
    return (
      `budget: ${decimal(spent)} of ${decimal(limit)} ${names[cap]} (budget.${cap}) are spent, and the next work of the ` +
      `phase ${phase} needs more. Raise budget.${cap} and resume the run; nothing is lost`
    )
  }
}

/** A piece of work that is about to be paid for. `key` names it within its phase, the same whenever it is redone. */
export interface Work {
  readonly key: string
  /** The most it can cost. */
  readonly most: Ledger.Amounts
}

/** A piece of work of a step, and what it is booked as; `payment` is null where it costs nothing. */
export interface PaidOnce<A, E> {
  readonly step: number
  readonly key: string
  readonly payment: {
    readonly phase: Ledger.Phase
    readonly need: Ledger.Need
    readonly most: Ledger.Amounts
    /** What it has cost, also where it failed. */
    readonly cost: (result: Result.Result<A, E>) => Ledger.Amounts
  } | null
}

/** Books what pieces of work have cost; each once. */
export type Settle = (
  costs: ReadonlyArray<readonly [key: string, cost: Ledger.Amounts]>
) => Effect.Effect<void, JournalError>

/**
 * Books what a run pays for in the journal's ledger: reserved before, settled after. Work that was reserved by an earlier
 * attempt is booked as redone and counts like any other.
 */
export interface Bookkeeping {
  /** The most the run may spend. */
  readonly limits: Ledger.Limits
  /**
   * The result of a piece of work: read where it is on record, else done, booked and put on record on arrival. Fails with
   * `BudgetReached`, before anything is done, when it does not fit the budget.
   */
  readonly once: <A, E, R>(
    records: Records.Records<A, A>,
    work: PaidOnce<A, E>,
    doing: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | BudgetReached | JournalError, R>
  /** Does pieces of work together; `settle` books each by its key. Fails with `BudgetReached` before anything is done. */
  readonly payEach: <A, E, R>(
    phase: Ledger.Phase,
    need: Ledger.Need,
    works: ReadonlyArray<Work>,
    doing: (settle: Settle) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | BudgetReached | JournalError, R>
  /** Fails with `BudgetReached` when work that needs so much may not begin. */
  readonly check: (phase: Ledger.Phase, need: Ledger.Need) => Effect.Effect<void, BudgetReached>
  /** Books the seconds that the work takes, whether it succeeds or not. */
  readonly timed: <A, E, R>(phase: Ledger.Phase, doing: Effect.Effect<A, E, R>) => Effect.Effect<A, E | JournalError, R>
}

/** Keeps the books of one session on top of those of earlier ones. */
export const make = Effect.fnUntraced(function* (
  limits: Ledger.Limits
): Effect.fn.Return<Bookkeeping, JournalError, Journal> {
  const journal = yield* Journal
  const spent = yield* Ref.make(Ledger.summarize(yield* journal.ledger).total)
  const turn = yield* Semaphore.make(1)
  /** When the work that is being timed began; its seconds are not booked yet. */
  const since = yield* Ref.make<number | null>(null)

  const unbooked = Effect.gen(function* () {
    const began = yield* Ref.get(since)
    return began === null ? 0 : ((yield* Clock.currentTimeMillis) - began) / 1000
  })

  const check = Effect.fnUntraced(function* (phase: Ledger.Phase, need: Ledger.Need) {
    const now = Ledger.add(yield* Ref.get(spent), { ...Ledger.nothing, seconds: yield* unbooked })
    const reached = Ledger.reached(limits, now, need)
    if (reached !== null) return yield* new BudgetReached({ ...reached, phase })
  })

  /** Checks and reserves as one: works that begin together must not all take what is left for one. */
  const reserve = Effect.fnUntraced(
    function* (phase: Ledger.Phase, need: Ledger.Need, works: ReadonlyArray<Work>) {
      yield* check(phase, need)
      const ids = yield* journal.reserve(works.map(({ key, most }) => ({ ...most, phase, key })))
      yield* Ref.update(spent, (before) => Ledger.add(before, sum(works.map(({ most }) => most))))
      return ids
    },
    (reserving) => turn.withPermit(reserving)
  )

  const payEach: Bookkeeping["payEach"] = Effect.fnUntraced(function* (phase, need, works, doing) {
    if (works.length === 0) return yield* doing(() => Effect.void)
    const ids = yield* reserve(phase, need, works)
    const reserved = new Map(Arr.zipWith(works, ids, ({ key, most }, id) => [key, { id, most }]))
    return yield* doing(
      Effect.fnUntraced(function* (costs) {
        const settled = costs.flatMap(([key, cost]) => {
          const open = reserved.get(key)
          return open === undefined ? [] : [{ ...open, cost }]
        })
        yield* journal.settle(settled.map(({ cost, id }) => ({ ...cost, id })))
        const less = sum(settled.map(({ cost, most }) => subtract(cost, most)))
        yield* Ref.update(spent, (before) => Ledger.add(before, less))
      })
    )
  })

  const once: Bookkeeping["once"] = Effect.fnUntraced(function* (records, { key, payment, step }, doing) {
    const known = (yield* records.get([key])).get(key)
    if (known !== undefined) return known
    const result = yield* payment === null
      ? Effect.result(doing)
      : payEach(payment.phase, payment.need, [{ key, most: payment.most }], (settle) =>
          Effect.tap(Effect.result(doing), (done) => settle([[key, payment.cost(done)]]))
        )
    if (Result.isFailure(result)) return yield* Effect.fail(result.failure)
    yield* records.put(step, [{ key, value: result.success }])
    return result.success
  })

  const book = Effect.fnUntraced(function* (phase: Ledger.Phase) {
    const seconds = yield* unbooked
    yield* Ref.set(since, null)
    yield* Ref.update(spent, (before) => Ledger.add(before, { ...Ledger.nothing, seconds }))
    yield* journal.charge({ ...Ledger.nothing, seconds, phase, redone: false })
  })

  return {
    limits,
    once,
    payEach,
    check,
    timed: (phase, doing) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => Ref.set(since, now)).pipe(
        Effect.andThen(doing),
        Effect.onExit(() => book(phase))
      )
  }
})

const sum = (amounts: ReadonlyArray<Ledger.Amounts>): Ledger.Amounts => amounts.reduce(Ledger.add, Ledger.nothing)

const subtract = (a: Ledger.Amounts, b: Ledger.Amounts): Ledger.Amounts => ({
  rollouts: a.rollouts - b.rollouts,
  tokens: a.tokens - b.tokens,
  calls: a.calls - b.calls,
  usd: a.usd - b.usd,
  seconds: a.seconds - b.seconds
})

const names: Readonly<Record<Ledger.Cap, string>> = {
  usd: "US dollars",
  rollouts: "rollouts",
  tokens: "tokens",
  minutes: "minutes"
}

const decimal = (value: number): string => (Math.round(100 * value) / 100).toLocaleString("en-US")
