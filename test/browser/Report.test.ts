import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { assert, it } from "vitest"
import { inspo } from "../cli/Inspo.ts"
import { assertClean, fixture, open, overflow, suite, violations } from "./support/Browser.ts"
import { syntheticRun } from "./support/SyntheticRun.ts"

const held = fixture()

suite("report.html", () => {
  it("prints on two pages, fits a phone, and has no finding of axe in either theme", async () => {
    const run = await syntheticRun(`${held.directory}/run`, {
      steps: 60,
      questionsPerStep: 12,
      groupSize: 4,
      tokens: 4
    })
    await run.write(run.events)
    await run.close()
    const file = join(held.directory, "report.html")
    const { code, stderr } = await inspo(["show", "run", "--report", "html", "--out", file], { cwd: held.directory })
    assert.strictEqual(code, 0, stderr)
    for (const theme of ["light", "dark"] as const)
      for (const width of [1440, 390]) {
        const watched = await open(held.browser, pathToFileURL(file).href, { theme, width })
        assert.isAtMost(await overflow(watched.page), 0)
        assert.deepStrictEqual(await violations(watched.page), [], `${theme}, ${width}`)
        const pdf = await watched.page.pdf({ preferCSSPageSize: true })
        const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/gu)?.length
        assert.strictEqual(pages, 2, `${theme}, ${width}`)
        assertClean({ ...watched, foreign: [] })
        await watched.page.close()
      }
  })
})
