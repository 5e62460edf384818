import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Presets } from "@inspo/coevolution"
import { Equal } from "effect"
import { leafPaths, valueAt } from "../../apps/cli/src/config/Resolve.ts"

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

  it.each(rows)("says what --preset paper-7b has as $path", ({ large, path }) => {
    assert.strictEqual(valueAt(Presets.paper7b, path), read(large))
  })

  it("lists everything that differs between the two models", () => {
    assert.sameMembers(
      leafPaths(Presets.paper).filter(
        (path) => !Equal.equals(valueAt(Presets.paper, path), valueAt(Presets.paper7b, path))
      ),
      rows.flatMap(({ large, path, small }) => (large === small ? [] : [path]))
    )
  })

  it("has no empty cell", () => {
    assert.notMatch(page, /\| +\|/u)
  })
})
