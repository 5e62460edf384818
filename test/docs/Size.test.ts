import { assert, describe, it } from "vitest"
import { sizes } from "../../tools/docs/size.ts"

/** What the counts may be at most. Lower a bound with what it bounds; a raised one needs a reason in its commit. */
const bounds: ReturnType<typeof sizes> = {
  "lines of the product": 99_540,
  "files of fewer than 15 lines": 16,
  "settings of a run": 76,
  "settings of a served population alone": 14,
  "paths of exports": 95,
  "words of documents": 59_240,
  "words of README.md": 700,
  "sentences of more than 20 words": 60
}

const counts = sizes()

describe("the size of inspo", () => {
  it.each(Object.entries(counts).map(([what, count]) => ({ what, count })))(
    "is bounded: $what, $count",
    ({ count, what }) => {
      const bound = new Map(Object.entries(bounds)).get(what) ?? 0
      console.log(`${count} ${what}, at most ${bound}`)
      assert.isAtMost(count, bound)
    }
  )
})
