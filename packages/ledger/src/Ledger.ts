/** What a run spent, by phase, and what it may still spend. */
import type { Spent } from "@inspo/domain"
import { LedgerTotal } from "@inspo/journal"
import { Array as Arr, Schema } from "effect"

/** What money and time go to: one for each kind of work a run pays for. */
export const Phase = Schema.Literals([
  "initial",
  "train",
  "proposing",
  "verification",
  "validation",
  "evaluation",
  "checkpoint"
])
export type Phase = typeof Phase.Type

/** Amounts of what a run spends: rollouts; tokens of prompts and responses; calls to language models; US dollars; seconds. */
export const Amounts = Schema.Struct({
  rollouts: Schema.Finite,
  tokens: Schema.Finite,
  calls: Schema.Finite,
  usd: Schema.Finite,
  seconds: Schema.Finite
})
export interface Amounts extends Schema.Schema.Type<typeof Amounts> {}

export const nothing: Amounts = { rollouts: 0, tokens: 0, calls: 0, usd: 0, seconds: 0 }

/** What calls to a language model cost; a price that is not known counts as none. */
export const ofSpent = ({ calls, tokens, usd }: Spent.Spent): Amounts => ({ ...nothing, calls, tokens, usd: usd ?? 0 })

export const add = (a: Amounts, b: Amounts): Amounts => ({
  rollouts: a.rollouts + b.rollouts,
  tokens: a.tokens + b.tokens,
  calls: a.calls + b.calls,
  usd: a.usd + b.usd,
  seconds: a.seconds + b.seconds
})

/** The limits of a budget by name. */
export const Cap = Schema.Literals(["usd", "rollouts", "tokens", "minutes"])
export type Cap = typeof Cap.Type

/** The most a run may spend, in the units of the caps, work that was redone after a crash included; null sets no limit. */
export type Limits = Readonly<Record<Cap, number | null>>

/** As much as it takes. */
export const unlimited: Limits = { usd: null, rollouts: null, tokens: null, minutes: null }

/** A limit that the next piece of work would not respect. `spent` and `limit` are in the unit of the cap. */
export interface Reached {
  readonly cap: Cap
  readonly limit: number
  readonly spent: number
}

/** What a piece of work takes, in the units of the caps: amounts that are certain beforehand, and 0 where they are not. */
export type Need = { readonly [cap in Cap]?: number }

/** What the kinds of work take; a rollout costs tokens, and everything takes time. */
export const needs = {
  rollouts: (count: number): Need => ({ rollouts: count, tokens: 0, usd: 0, minutes: 0 }),
  call: { tokens: 0, usd: 0, minutes: 0 } satisfies Need,
  time: { minutes: 0 } satisfies Need
}

/**
 * The first cap that forbids work which needs so much; null when it may begin. An amount that is certain has to fit; of
 * one that is not, such as tokens, something has to be left. What is begun is finished, so a run overspends at most by the
 * work in flight.
 *
 * @example
 * ```ts
 * import { Ledger } from "@inspo/ledger"
 *
 * const budget = { usd: null, rollouts: 1000, tokens: null, minutes: null }
 * const spent = { ...Ledger.nothing, rollouts: 960 }
 * Ledger.reached(budget, spent, Ledger.needs.rollouts(80)) // { cap: "rollouts", limit: 1000, spent: 960 }
 * ```
 */
export const reached = (budget: Limits, spent: Amounts, need: Need): Reached | null => {
  const used = inUnitsOfCaps(spent)
  for (const cap of Cap.literals) {
    const limit = budget[cap]
    const wanted = need[cap]
    if (limit !== null && wanted !== undefined && (used[cap] >= limit || used[cap] + wanted > limit))
      return { cap, limit, spent: used[cap] }
  }
  return null
}

/** Whether any cap but that of rollouts is set: what costs are known only afterwards is then bought little by little. */
export const isMetered = (budget: Limits): boolean =>
  budget.usd !== null || budget.tokens !== null || budget.minutes !== null

const inUnitsOfCaps = ({ rollouts, seconds, tokens, usd }: Amounts): Readonly<Record<Cap, number>> => ({
  usd,
  rollouts,
  tokens,
  minutes: seconds / 60
})

/** What a run spent: by phase, in the order of {@link Phase}, and in all. */
export const Summary = Schema.Struct({
  phases: Schema.Array(LedgerTotal),
  total: Amounts,
  redone: Amounts,
  open: Amounts
})
export interface Summary extends Schema.Schema.Type<typeof Summary> {}

/** Sums up the ledger of a journal. */
export const summarize = (totals: ReadonlyArray<LedgerTotal>): Summary => {
  const rank = (phase: string) => {
    const place = Arr.findFirstIndex(Phase.literals, (known) => known === phase)
    return place._tag === "Some" ? place.value : Phase.literals.length
  }
  const phases = totals.toSorted((a, b) => rank(a.phase) - rank(b.phase))
  const sum = (of: (total: LedgerTotal) => Amounts) => phases.map(of).reduce(add, nothing)
  return { phases, total: sum((total) => total), redone: sum(({ redone }) => redone), open: sum(({ open }) => open) }
}
