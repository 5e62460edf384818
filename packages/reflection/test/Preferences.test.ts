import { assert, describe, it } from "@effect/vitest"
import { Array, Schema } from "effect"
import { ClauseBank, type ProposeRequest } from "../src/index.ts"
import * as Preferences from "../src/internal/Preferences.ts"
import * as Tried from "../src/internal/Tried.ts"

const bank = ClauseBank.clauses
const texts = bank.flatMap((clause) => clause.texts)
const Advice = Schema.Array(Schema.Literals(texts))
const Score = Schema.Literals([0, 0.1, 0.25, 0.5, 0.9, 1])
const History = Schema.Array(Schema.Tuple([Advice, Score]))
const Votes = Schema.Literals([0, 1, 4])

const textOf = (advice: ReadonlyArray<string>) => ["Go.", ...Array.dedupe(advice)].join(" ")
const requestOf = (
  parent: ReadonlyArray<string>,
  history: ReadonlyArray<readonly [ReadonlyArray<string>, number]>
): ProposeRequest => ({
  parent: { text: textOf(parent) },
  records: [],
  history: history.map(([advice, score]) => ({ instruction: { text: textOf(advice) }, score })),
  count: 1,
  seed: 1,
  stream: []
})
const preferencesOf = (request: ProposeRequest, votes = 0) =>
  Preferences.make(bank, request.parent.text, () => votes, Tried.read(request))
const clauseOf = (id: string) =>
  Array.getUnsafe(
    bank,
    bank.findIndex((clause) => clause.id === id)
  )

describe("preferences", () => {
  it.prop(
    "leave every clause, wording and withdrawal a chance, whatever was tried with whatever success",
    [Advice, History, Votes],
    ([parent, history, votes]) => {
      const { clause, withdrawal, wording } = preferencesOf(requestOf(parent, history), votes)
      for (const weight of [...bank.map(clause), ...texts.map(wording), ...bank.map(withdrawal)]) {
        assert.isTrue(Number.isFinite(weight))
        assert.isAbove(weight, 0.05)
      }
    }
  )

  it.prop(
    "favour a clause and the advice whose carriers did better, over the same scores reversed",
    [Schema.Literals(bank.map(({ id }) => id)), Score, Score, Votes],
    ([id, low, high, votes]) => {
      if (low >= high) return
      const clause = clauseOf(id)
      const other = texts.find((text) => !clause.texts.includes(text))
      const scored = (carriers: number, others: number) =>
        preferencesOf(
          requestOf(
            [],
            [
              [clause.texts.slice(0, 1), carriers],
              [[other ?? ""], others],
              [[], (low + high) / 2]
            ]
          ),
          votes
        )
      const [better, worse] = [scored(high, low), scored(low, high)]
      assert.isAbove(better.clause(clause), worse.clause(clause))
      assert.isBelow(better.withdrawal(clause), worse.withdrawal(clause))
    }
  )

  it.prop(
    "favour what was never tried, and nothing else where it was tried without a difference",
    [Schema.Literals(texts), Votes, Score],
    ([text, votes, score]) => {
      const clause = Array.getUnsafe(
        bank,
        bank.findIndex((one) => one.texts.includes(text))
      )
      const before = preferencesOf(requestOf([], [[[], score]]), votes)
      const after = preferencesOf(
        requestOf(
          [],
          [
            [[], score],
            [[text], score]
          ]
        ),
        votes
      )
      assert.isAbove(before.clause(clause), after.clause(clause))
      assert.isAbove(before.wording(text), after.wording(text))
      for (const one of bank.filter(({ id }) => id !== clause.id))
        assert.strictEqual(before.clause(one), after.clause(one))
    }
  )

  it("change more with several carriers than with one", () => {
    const clause = clauseOf("polite")
    const weightWith = (carriers: number) =>
      preferencesOf(
        requestOf(
          [],
          [
            [[], 0.5],
            [[texts[0] ?? ""], 0],
            ...Array.makeBy(carriers, (): [Array<string>, number] => [[...clause.texts], 1])
          ]
        )
      ).clause(clause)
    assert.isAbove(weightWith(3), weightWith(1))
  })

  it("ask for nothing that the parent has already", () => {
    const [text] = clauseOf("search-first").texts
    const request = requestOf(
      [text],
      [
        [[text], 1],
        [[], 0]
      ]
    )
    const { clause } = preferencesOf(request, 4)
    assert.isBelow(clause(clauseOf("search-first")), clause(clauseOf("one-entity")) / 4)
  })
})
