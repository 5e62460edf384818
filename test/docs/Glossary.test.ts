import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { RunEvent } from "@inspo/coevolution"
import { Presets, RunConfig } from "@inspo/config"
import { inspo } from "../../apps/cli/src/Cli.ts"
import { configKeys } from "../../apps/cli/src/config/ConfigKeys.ts"
import { leafPaths } from "../../apps/cli/src/config/Resolve.ts"
import { PopulationEvent } from "../../packages/cohorts/src/Event.ts"
import { Settings } from "../../packages/cohorts/src/Settings.ts"

const glossary = readFileSync(new URL("../../docs/explanation/glossary.md", import.meta.url), "utf8")

/** The nouns that the glossary lacks as code. */
const missing = (nouns: ReadonlyArray<string>): ReadonlyArray<string> =>
  nouns.filter((noun) => !glossary.includes(`\`${noun}\``))

/** The first cells of the rows of a section. */
const rowsOf = (section: string): ReadonlyArray<string> => {
  const [, text = ""] = new RegExp(`^## ${section}$(.*?)^## `, "msu").exec(`${glossary}\n## `) ?? []
  return [...text.matchAll(/^\| ([^|]+?) +\|/gmu)]
    .map(([, cell = ""]) => cell)
    .filter((cell) => !/^-|^(?:our term|command|section|event)$/u.test(cell))
}

/** What a section has as code in its first cells and is none of the known nouns. */
const gone = (section: string, known: ReadonlyArray<string>): ReadonlyArray<string> =>
  rowsOf(section)
    .flatMap((cell) => [...cell.matchAll(/`(\w+)`/gu)].map(([, noun = ""]) => noun))
    .filter((noun) => !known.includes(noun))

const root = fileURLToPath(new URL("../../", import.meta.url))

/** The sources and the other pages in lower case. */
const used = globSync(["packages/*/src/**/*.ts", "docs/**/*.md", "ARCHITECTURE.md"], { cwd: root })
  .filter((file) => !file.endsWith("glossary.md"))
  .map((file) => readFileSync(`${root}${file}`, "utf8").toLowerCase())
  .join("\n")

const tagsOf = (union: {
  readonly members: ReadonlyArray<{
    readonly fields: { readonly _tag: { readonly schema: { readonly literal: string } } }
  }>
}): ReadonlyArray<string> => union.members.map(({ fields }) => fields._tag.schema.literal)

describe("docs/explanation/glossary.md", () => {
  it("has every event of a run and of a served population", () => {
    assert.deepStrictEqual(missing([...tagsOf(RunEvent), ...tagsOf(PopulationEvent)]), [])
  })

  it("has every command", () => {
    const names = inspo.subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))
    assert.isNotEmpty(names)
    assert.deepStrictEqual(missing(names), [])
  })

  it("has every group of settings", () => {
    assert.deepStrictEqual(missing([...Object.keys(RunConfig.fields), ...Object.keys(Settings.fields)]), [])
  })

  it("has no event, command or setting that is gone", () => {
    const commands = inspo.subcommands.flatMap(({ commands }) =>
      commands.flatMap((command) => [
        command.name,
        ...command.subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))
      ])
    )
    const settings = [...Object.keys(RunConfig.fields), ...Object.keys(Settings.fields)]
    assert.deepStrictEqual(gone("Commands", commands), [])
    assert.deepStrictEqual(gone("Settings", settings), [])
    assert.deepStrictEqual(gone("Events", [...tagsOf(RunEvent), ...tagsOf(PopulationEvent)]), [])
    assert.deepStrictEqual(gone("Events", tagsOf(RunEvent)).slice(0, 1), ["Created"])
  })

  it("has no key of a config that is gone", () => {
    const keys = new Set([
      ...configKeys.map(({ path }) => path),
      ...leafPaths(Presets.quick),
      ...Object.keys(Settings.fields)
    ])
    const named = [...glossary.matchAll(/`([a-z]\w*(?:\.[a-z]\w*)+)`/gu)].map(([, key = ""]) => key)
    assert.isAtLeast(named.length, 5)
    assert.deepStrictEqual(
      named.filter((key) => !keys.has(key)),
      []
    )
  })

  it("has no term that neither the sources nor the pages use", () => {
    const terms = ["The loop", "Evolution", "The kernel", "A run"].flatMap((section) =>
      rowsOf(section).flatMap((cell) => cell.replaceAll(/\(.*?\)/gu, "").split(","))
    )
    assert.isAtLeast(terms.length, 50)
    assert.deepStrictEqual(
      terms
        .map((term) => term.trim().toLowerCase())
        .filter((term) => !used.includes(term) && !used.includes(term.replaceAll(" ", ""))),
      []
    )
  })

  it("would not have a noun that nobody added", () => {
    assert.deepStrictEqual(missing(["NeverHappened"]), ["NeverHappened"])
  })
})
