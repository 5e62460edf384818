import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Dollars from "../src/SearchView.ts"
import { evolve } from "../src/index.ts"
import { good, options, succeeds } from "./support/Agents.ts"

describe("costs", () => {
  it("keep two digits that count, whatever their size", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1e6, noNaN: true }), (usd) => {
        const shown = Dollars.dollars(usd)
        assert.match(shown, /^\$[\d,]+\.\d+$/u)
        assert.approximately(Number(shown.replaceAll(/[$,]/gu, "")) / usd, 1, 0.05)
      })
    )
    assert.strictEqual(Dollars.dollars(0.0042), "$0.0042")
    assert.strictEqual(Dollars.dollars(0), "$0.00")
    assert.strictEqual(Dollars.dollars(1234.567), "$1,234.57")
  })
})

describe("the report", () => {
  it("names equal rejections once, with their number, and costs below a cent", async () => {
    const result = await evolve({
      ...options(100),
      agent: (prompt, one, { spend }) => {
        spend(0.0000042)
        return succeeds(prompt, one) ? "right" : "wrong"
      },
      proposer: () => `<ins_1>Name it. ${good}</ins_1><ins_2>Name it. ${good}</ins_2>`
    })
    const report = result.report()
    assert.isAbove(result.rejected.length, 1)
    const lines = report.split("\n").filter((line) => line.includes("rejected ("))
    assert.strictEqual(new Set(lines).size, lines.length)
    const counted = lines.map((line) => Number(/^- (?:(\d+) × )?rejected/u.exec(line)?.[1] ?? 1))
    assert.strictEqual(
      counted.reduce((sum, one) => sum + one, 0),
      result.rejected.length
    )
    assert.isBelow(lines.length, result.rejected.length)
    assert.include(report, `${Dollars.dollars(result.usd)} as far as prices were reported`)
    assert.notInclude(report, "0.00 ")
  })
})
