import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspo } from "../cli/Inspo.ts"
import { assertClean, axe, launch, open, overflow, unavailable } from "./support/Browser.ts"
import { syntheticRun } from "./support/SyntheticRun.ts"

let directory = ""
let browser: Browser

beforeAll(async () => {
  if (unavailable !== null) return
  directory = await mkdtemp(join(tmpdir(), "inspo-report-"))
  browser = await launch()
})

afterAll(async () => {
  await browser?.close()
  endAll()
  if (directory !== "") await rm(directory, { recursive: true, force: true })
})

describe.skipIf(unavailable !== null)(
  `report.html in Chromium${unavailable === null ? "" : ` (skipped: ${unavailable})`}`,
  { timeout: 120_000 },
  () => {
    it("prints on two pages, fits a phone, and has no serious finding of axe in either theme", async () => {
      const run = await syntheticRun(`${directory}/run`, { steps: 60, questionsPerStep: 12, groupSize: 4, tokens: 4 })
      await run.write(run.events)
      await run.close()
      const file = join(directory, "report.html")
      const { code, stderr } = await inspo(["show", "run", "--report", "html", "--out", file], { cwd: directory })
      assert.strictEqual(code, 0, stderr)
      for (const theme of ["light", "dark"] as const)
        for (const width of [1440, 390]) {
          const watched = await open(browser, pathToFileURL(file).href, { theme, width })
          assert.isAtMost(await overflow(watched.page), 0)
          assert.deepStrictEqual(await axe(watched.page), [], `${theme}, ${width}`)
          const pdf = await watched.page.pdf({ preferCSSPageSize: true })
          const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/gu)?.length
          assert.strictEqual(pages, 2, `${theme}, ${width}`)
          assertClean({ ...watched, foreign: [] })
          await watched.page.close()
        }
    })
  }
)
