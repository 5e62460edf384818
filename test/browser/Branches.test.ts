import { afterAll, assert, beforeAll, it } from "vitest"
import {
  assertClean,
  assertInOrder,
  type Dashboard,
  dashboard,
  fixture,
  landmark,
  looks,
  open,
  suite,
  until
} from "./support/Browser.ts"
import { syntheticRun } from "./support/SyntheticRun.ts"

const small = { steps: 16, questionsPerStep: 3, groupSize: 2, tokens: 4 }

const held = fixture()

suite("branches of runs", () => {
  let server: Dashboard
  beforeAll(async () => {
    for (const [name, forkedFrom] of [
      ["main", undefined],
      ["longer", { run: "main", step: 10 }],
      ["lost", { run: "gone", step: 5 }]
    ] as const) {
      const run = await syntheticRun(`${held.directory}/${name}`, {
        ...small,
        ...(forkedFrom === undefined ? {} : { forkedFrom })
      })
      await run.write(run.events)
      await run.close()
    }
    server = await dashboard(held.directory)
  }, 120_000)
  afterAll(() => server?.stop())

  it("are folded under their run, unfolded by keys, and linked both ways with the step at which they left", async () => {
    for (const { theme, width } of looks) {
      const watched = await open(held.browser, server.url, { width, theme })
      const { page } = watched
      const place = `at ${width} pixels, ${theme}`
      const clean = (what: string) => assertInOrder(page, `${what} ${place}`)
      const names = () => page.locator("table.rows tbody a[href]").allTextContents()
      await page.getByRole("button", { name: "1 branch" }).waitFor()
      assert.sameMembers(await names(), ["main", "lost"], place)
      await page.getByRole("button", { name: "1 branch" }).focus()
      await page.keyboard.press("Enter")
      await page.getByText("branch of main after step 10").waitFor()
      const shown = await names()
      assert.strictEqual(shown[shown.indexOf("main") + 1], "longer", place)
      await clean("list")

      await page.goto(`${server.url}/#/longer/lineage`)
      await page.waitForSelector(landmark.lineage)
      assert.strictEqual(await page.textContent(".fork text"), "step 10: left main")
      await clean("branch")
      await page.locator(".forks a", { hasText: "main" }).focus()
      await page.keyboard.press("Enter")
      await until(page, `location.hash === "#/main/lineage"`)
      await page.getByText("Branch: longer after step 10").waitFor()
      assert.strictEqual(await page.textContent(".fork text"), "step 10: longer branches off")
      await clean("run")
      await page.locator(".forks a", { hasText: "longer" }).focus()
      await page.keyboard.press("Enter")
      await until(page, `location.hash === "#/longer/lineage"`)

      await page.goto(`${server.url}/#/lost/lineage`)
      await page.getByText("Branch of gone after step 5, which is not in the list of runs").waitFor()
      await clean("branch of an unknown run")
      assertClean(watched)
      await page.close()
    }
  })
})
