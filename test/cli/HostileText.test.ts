/** @module-tag deep */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PlainText } from "@inspo/domain"
import { marked } from "marked"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { syntheticRun } from "../browser/support/SyntheticRun.ts"
import { endAll, inspo, testTimeout } from "./Inspo.ts"

/** What takes over a terminal, a page or a reader's eyes where it is not shown as what it is. */
const hostile =
  "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202Eback\u200B ![x](http://evil.example/a.png) [x](javascript:alert(1)) " +
  "<img src=x onerror=alert(1)> <http://evil.example> www.evil.example a@evil.example `` ``` ~~~ | # **x** [x]: javascript:y"

const shape = { steps: 16, questionsPerStep: 3, groupSize: 2, tokens: 4 }

let directory = ""

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-hostile-"))
  for (const [name, text] of [
    ["hostile", hostile],
    ["harmless", "words"]
  ] as const) {
    const run = await syntheticRun(join(directory, name), { ...shape, text })
    await run.write(run.events)
    await run.close()
  }
  const rows = [1, 2].map((index) => ({
    question: `${hostile} ${index}?`,
    golden_answers: [hostile],
    data_source: hostile
  }))
  await writeFile(join(directory, "rows.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"))
})

afterAll(async () => {
  endAll()
  await rm(directory, { recursive: true, force: true })
})

/** The kinds of the elements of a page; text may fall into any number of pieces. */
const kinds = (page: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  void marked.walkTokens(marked.lexer(page), ({ type }) => {
    if (!["text", "escape", "space"].includes(type)) found.push(type)
  })
  return found
}

describe("texts of models and users", () => {
  it.concurrent.each([
    ["show", "hostile"],
    ["show", "hostile", "--lineage"],
    ["show", "hostile:seed", "hostile:best"],
    ["data", "inspect", "rows.jsonl"]
  ])("do nothing to a terminal: %s %s", { timeout: testTimeout }, async (...args) => {
    const { code, stderr, stdout } = await inspo(args, { cwd: directory })
    assert.strictEqual(code, 0, stderr)
    assert.deepStrictEqual(PlainText.hiddenIn(stdout + stderr), [])
    assert.include(stdout, String.raw`\u{1b}`)
  })

  it.concurrent("are nothing but text in report.md", { timeout: testTimeout }, async () => {
    const pages = await Promise.all(
      ["hostile", "harmless"].map((run) => inspo(["show", run, "--report", "md", "--out", "-"], { cwd: directory }))
    )
    for (const { code, stderr, stdout } of pages) {
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(PlainText.hiddenIn(stdout), [])
    }
    const [page = [], expected = []] = pages.map(({ stdout }) => kinds(stdout))
    assert.deepStrictEqual(page, expected)
  })
})
