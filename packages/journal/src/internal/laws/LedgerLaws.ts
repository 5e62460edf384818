/** Laws of the ledger. */
import { Law } from "@inspo/domain/testing"
import { Arbitrary, Effect, Schema } from "effect"
import type { Expense, Journal, LedgerEntry } from "../../Journal.ts"
import { refused, type Use } from "./Cases.ts"

export const ledgerLaws = <E, R>(use: Use<E, R>, options: Law.Options | undefined): ReadonlyArray<Law.Law<R>> => [
  Law.forAll(
    "the ledger sums every amount by phase, and the redone part apart",
    Arbitrary.schema(Schema.Array(Charge)),
    options,
    (charges) =>
      use((journal) =>
        Effect.gen(function* () {
          for (const entry of charges) yield* journal.charge(entry)
          const booked = charges.map((entry) => ({ ...entry, open: false, amounts: entry }))
          Law.same(yield* journal.ledger, totals(booked), "the ledger")
        })
      )
  ),

  Law.forAll(
    "the ledger counts what is reserved until it is settled, what is settled once, and a key that comes again as redone",
    Arbitrary.schema(Schema.Tuple([Schema.Array(Schema.Array(Reserved)), Schema.Array(Schema.Struct(Spent)), Charge])),
    options,
    (drawn) => use((journal) => reservedAndSettled(journal, drawn))
  ),

  Law.once("a reservation is settled once, and all of a batch or none", () => use(settledOnce)),

  Law.once("the ledger takes thousands of reservations and settlements at once", () =>
    use((journal) =>
      Effect.gen(function* () {
        const ids = yield* journal.reserve(
          Array.from({ length: 2560 }, (_, index) => ({ ...one, phase: "rollout", key: `${index}` }))
        )
        Law.same(ids.length, 2560, "the number of ids")
        yield* journal.settle(ids.map((id) => ({ ...one, tokens: 2, id })))
        const [total] = yield* journal.ledger
        const spent = sum(ids.map(() => ({ ...one, tokens: 2 })))
        Law.same(total, { phase: "rollout", ...spent, redone: sum([]), open: sum([]) }, "the total")
      })
    )
  ),

  Law.once("an amount that cannot be spent is refused", () =>
    Effect.forEach(wrong, (amount) =>
      use((journal) =>
        Effect.gen(function* () {
          const entry: LedgerEntry = { ...one, phase: "rollout", redone: false }
          for (const operation of [
            journal.charge({ ...entry, ...amount }),
            journal.reserve([{ ...one, phase: "rollout", key: "k", ...amount }])
          ]) {
            const { message, reason } = yield* refused(operation)
            Law.same(reason, "invalid", "the reason")
            for (const field of Object.keys(amount))
              Law.expect(message.includes(field), `the message does not name ${field}: ${message}`)
          }
        })
      )
    )
  )
]

const Spent = {
  rollouts: Schema.Literals([0, 1, 300]),
  tokens: Schema.Literals([0, 7, 1e9]),
  calls: Schema.Literals([0, 2]),
  usd: Schema.Literals([0, 0.25, 3]),
  seconds: Schema.Literals([0, 0.5, 60])
}
const Phase = Schema.Literals(["rollout", "verify"])
const Charge = Schema.Struct({ ...Spent, phase: Phase, redone: Schema.Boolean })
const Reserved = Schema.Struct({ ...Spent, phase: Phase, key: Schema.Literals(["a", "b", "c"]) })

const one: Expense = { rollouts: 1, tokens: 1, calls: 1, usd: 0, seconds: 0 }
const wrong = [{ rollouts: -1 }, { tokens: 0.5 }, { usd: Number.NaN }, { seconds: -1 }, { phase: "" }, { phase: "\0" }]

/** One expense as the ledger should count it. */
interface Booked {
  readonly phase: string
  readonly redone: boolean
  readonly open: boolean
  readonly amounts: Expense
}

const sum = (entries: ReadonlyArray<Expense>): Expense => {
  const add = (amount: keyof Expense) => entries.reduce((total, entry) => total + entry[amount], 0)
  return {
    rollouts: add("rollouts"),
    tokens: add("tokens"),
    calls: add("calls"),
    usd: add("usd"),
    seconds: add("seconds")
  }
}

const totals = (booked: ReadonlyArray<Booked>) =>
  ["rollout", "verify"].flatMap((phase) => {
    const own = booked.filter((entry) => entry.phase === phase)
    const sumOf = (entries: ReadonlyArray<Booked>) => sum(entries.map(({ amounts }) => amounts))
    return own.length === 0
      ? []
      : [
          {
            phase,
            ...sumOf(own),
            redone: sumOf(own.filter(({ redone }) => redone)),
            open: sumOf(own.filter(({ open }) => open))
          }
        ]
  })

const reservedAndSettled = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  [batches, spent, charge]: readonly [
    ReadonlyArray<ReadonlyArray<typeof Reserved.Type>>,
    ReadonlyArray<Expense>,
    typeof Charge.Type
  ]
) {
  const ids = (yield* Effect.forEach(batches, journal.reserve)).flat()
  Law.same(new Set(ids).size, batches.flat().length, "the number of ids")
  yield* journal.charge(charge)
  const settlements = spent.slice(0, ids.length).map((amounts, index) => ({ id: ids[index] ?? NaN, ...amounts }))
  yield* journal.settle(settlements)
  const seen = new Set<string>()
  const booked = batches.flat().map((reservation, index) => {
    const name = `${reservation.phase}/${reservation.key}`
    const redone = seen.has(name)
    seen.add(name)
    const open = index >= settlements.length
    return { phase: reservation.phase, redone, open, amounts: settlements[index] ?? reservation }
  })
  const charged = { phase: charge.phase, redone: charge.redone, open: false, amounts: charge }
  Law.same(yield* journal.ledger, totals([...booked, charged]), "the ledger")
})

const settledOnce = Effect.fnUntraced(function* (journal: Journal.Interface) {
  const reservation = { ...one, phase: "rollout" }
  const [first = NaN, second = NaN] = yield* journal.reserve([
    { ...reservation, key: "a" },
    { ...reservation, key: "b" }
  ])
  yield* journal.settle([{ ...one, id: first }])
  for (const ids of [[first], [second, second], [second, 99]]) {
    const { message, reason } = yield* refused(journal.settle(ids.map((id) => ({ ...one, id }))))
    Law.same(reason, "invalid", "the reason")
    Law.expect(message.includes("is not open"), `the message is ${message}`)
  }
  Law.same(
    (yield* journal.ledger).map(({ open }) => open.rollouts),
    [1],
    "the rollouts that are reserved"
  )
})
