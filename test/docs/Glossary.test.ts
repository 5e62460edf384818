import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { RunEvent } from "@inspo/coevolution/RunEvent"
import { RunConfig } from "@inspo/config"
import { inspo } from "../../apps/cli/src/Cli.ts"
import { PopulationEvent } from "../../packages/cohorts/src/Event.ts"
import { Settings } from "../../packages/cohorts/src/Settings.ts"

const glossary = readFileSync(new URL("../../docs/explanation/glossary.md", import.meta.url), "utf8")

/** The nouns that the glossary lacks as code. */
const missing = (nouns: ReadonlyArray<string>): ReadonlyArray<string> =>
  nouns.filter((noun) => !glossary.includes(`\`${noun}\``))

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

  it("would not have a noun that nobody added", () => {
    assert.deepStrictEqual(missing(["NeverHappened"]), ["NeverHappened"])
  })
})
