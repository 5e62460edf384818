import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Presets } from "@inspo/coevolution"
import { valueAt } from "../../apps/cli/src/config/Resolve.ts"

const page = readFileSync(new URL("../../docs/paper.md", import.meta.url), "utf8")

const rows = [...page.matchAll(/^\| [^|]+ \| `([a-zA-Z.]+)`\s+\| (\S+)\s+\| (\S+)\s+\|$/gmu)].map(
  ([, path = "", small = "", large = ""]) => ({ path, small, large })
)

const isNumber = (text: string): boolean => !Number.isNaN(Number(text))
const read = (text: string): unknown => (isNumber(text) ? Number(text) : text)

describe("docs/paper.md", () => {
  it("has a row for every line of Appendix B that is a setting", () => {
    assert.lengthOf(rows, 23)
  })

  it.each(rows)("says what --preset paper has as $path", ({ path, small }) => {
    assert.strictEqual(valueAt(Presets.paper, path), read(small))
  })

  it("sets what differs for the 7B model, and nothing else", () => {
    const set = [...page.matchAll(/--set ((?:train|rollout)\.\S+)=(\S+)/gu)].map(([, path = "", value = ""]) => ({
      path,
      value
    }))
    assert.sameDeepMembers(
      set,
      rows.flatMap(({ large, path, small }) => (large === small ? [] : [{ path, value: large }]))
    )
  })

  it("has no empty cell", () => {
    assert.notMatch(page, /\| +\|/u)
  })
})
