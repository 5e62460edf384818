import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { inspo } from "../cli/Inspo.ts"
import { commandLines } from "./support/CommandLine.ts"
import { blocksOf } from "./support/Documents.ts"

const asked = process.env["INSPO_PACK"] === "1"
const why = asked ? "" : " (skipped: takes half a minute; set INSPO_PACK=1)"

/** Verbs that do not end by themselves. */
const servers = new Set(["dashboard"])

/** The tutorial's commands in order, up to the long run, each with what it is said to print. */
const lessons = () => {
  const blocks = blocksOf("docs/tutorial.md")
  const end = blocks.findIndex(({ code }) => code.includes("pnpm@12 start"))
  let printed: Array<string> = []
  return blocks.slice(0, end).flatMap(({ code, language }) => {
    if (language === "text") printed.push(code)
    if (language !== "sh") return []
    return commandLines(code)
      .filter(({ words: [verb = ""] }) => !servers.has(verb))
      .map(({ words: args }) => {
        printed = []
        return { args, printed }
      })
  })
}

describe.skipIf(!asked)(`the tutorial${why}`, { timeout: 240_000 }, () => {
  let cwd = ""
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "inspo-tutorial-"))
  })
  afterAll(() => rm(cwd, { recursive: true, force: true }))

  it("prints what it says, command by command", async () => {
    const all = lessons()
    assert.isAtLeast(all.length, 5)
    for (const { args, printed } of all) {
      const { code, stderr, stdout } = await inspo(args, { cwd })
      assert.strictEqual(code, 0, stderr)
      for (const text of printed) assert.include(squash(stdout), squash(text), `inspo ${args.join(" ")}`)
    }
  })
})

const squash = (text: string): string => text.replaceAll(/\s+/gu, " ").trim()
