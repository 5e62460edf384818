import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"
import { mutations } from "../tools/mutation/mutations.ts"

it("every mutation fits its source exactly once", () => {
  const unfit = mutations.filter(
    ({ file, text }) => readFileSync(join(import.meta.dirname, "..", file), "utf8").split(text).length !== 2
  )
  assert.deepStrictEqual(unfit, [])
})
