import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { packages } from "../packages/support/Workspace.ts"

const root = new URL("../../", import.meta.url)
const page = readFileSync(new URL("ARCHITECTURE.md", root), "utf8")

/** Files that the page names, each with the name that stands beside it, if any. */
const named = [...page.matchAll(/`((?:packages|apps|research|test|tools|docs)\/[\w./-]+)`(?:, `(\w+)`)?/gu)].map(
  ([, file = "", name = ""]) => ({ file, name })
)

describe("ARCHITECTURE.md", () => {
  it("answers where things are with files that are there, and hold what it says", () => {
    assert.isAtLeast(named.filter(({ name }) => name !== "").length, 20)
    for (const { file, name } of named) {
      const path = fileURLToPath(new URL(file, root))
      assert.isTrue(existsSync(path), file)
      if (name !== "")
        assert.match(readFileSync(path, "utf8"), new RegExp(`(const|class|function) ${name}\\b`, "u"), file)
    }
  })

  it("argues for each package, and for no other", () => {
    const [, section = ""] = /^## Why each is a package$(.*?)^## /msu.exec(page) ?? []
    assert.deepStrictEqual(
      [...section.matchAll(/^\| `([\w-]+)`/gmu)].map(([, name]) => name),
      packages.map(({ name }) => name)
    )
  })
})
