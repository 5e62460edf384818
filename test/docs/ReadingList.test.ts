/** The document of papers, against the registries of methods. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { table as methods } from "../../apps/cli/src/methods/Methods.ts"

const document = readFileSync(join(import.meta.dirname, "../../docs/explanation/reading-list.md"), "utf8")

const rows = document
  .split("\n")
  .filter((line) => /^\| \d/u.test(line))
  .map((line) => {
    const [number = "", paper = "", inside = "", outside = ""] = line
      .split("|")
      .slice(1)
      .map((cell) => cell.trim())
    return { number, paper, inside, outside, arXiv: paper.match(/\d{4}\.\d{5}/u)?.[0] ?? null }
  })

const named = (text: string) => [...text.matchAll(/(?<!\[)`([a-z][a-z-]*)`/gu)].map(([, name]) => name ?? "")

describe("the reading list", () => {
  it("has a row for each of the 51 papers, with what is built or why it is not", () => {
    assert.deepStrictEqual(
      rows.map(({ number }) => Number(number)),
      Array.from({ length: 51 }, (_, index) => index + 1)
    )
    for (const { inside, outside, paper } of rows) assert.isTrue(inside !== "" || outside !== "", paper)
  })

  it("names methods that exist", () => {
    const names = new Set(methods.map(({ name }) => name))
    for (const { inside, paper } of rows)
      for (const name of named(inside)) assert.isTrue(names.has(name), `${paper}: ${name}`)
  })

  it("names each method in the row of its paper", () => {
    for (const { name, source } of methods)
      for (const row of rows)
        if (row.arXiv !== null && source.includes(row.arXiv)) assert.include(named(row.inside), name, row.paper)
  })
})
