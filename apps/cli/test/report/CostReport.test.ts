import { assert, describe, it } from "@effect/vitest"
import { Ledger } from "@inspo/ledger"
import { costLines } from "../../src/run/Show.ts"

const phase = (name: string, amounts: Partial<Ledger.Amounts>, redone: Partial<Ledger.Amounts> = {}) => ({
  ...Ledger.nothing,
  ...amounts,
  phase: name,
  redone: { ...Ledger.nothing, ...redone },
  open: Ledger.nothing
})

describe("costLines", () => {
  it("adds up the phases, and shows what was paid twice", () => {
    assert.deepStrictEqual(
      costLines(
        Ledger.summarize([
          phase("train", { rollouts: 24_000, tokens: 1_988_000, seconds: 64 }, { rollouts: 80 }),
          phase("proposing", { calls: 3, usd: 0.125 })
        ])
      ),
      [
        "Cost by phase",
        "  phase            rollouts     tokens  calls   USD        time",
        "  train              24,000  1,988,000      0  0.00  1 min 04 s",
        "  proposing               0          0      3  0.13         0 s",
        "  total              24,000  1,988,000      3  0.13  1 min 04 s",
        "  of which redone        80          0      0  0.00         0 s"
      ]
    )
    assert.deepStrictEqual(costLines(Ledger.summarize([])), [])
  })
})
