import { readFile, writeFile } from "node:fs/promises"
import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import {
  assertClean,
  assertInOrder,
  type Dashboard,
  dashboard,
  landmark,
  open,
  suite,
  until,
  violations,
  fixture
} from "./support/Browser.ts"
import { syntheticRun } from "./support/SyntheticRun.ts"

const held = fixture()

/** Presses Tab until an element with this text, or a field with this label, has the focus. */
const tabTo = async (page: Page, text: string) => {
  for (let presses = 0; presses < 80; presses++) {
    const focused = await page.evaluate(
      `const { activeElement } = document; (activeElement.labels?.[0] ?? activeElement).textContent`
    )
    if (String(focused).startsWith(text)) return
    await page.keyboard.press("Tab")
  }
  throw new Error(`no key leads to ${text}`)
}

suite("tags and notes", () => {
  let server: Dashboard
  beforeAll(async () => {
    for (const name of ["first", "second"]) {
      const run = await syntheticRun(`${held.directory}/${name}`, {
        steps: 16,
        questionsPerStep: 3,
        groupSize: 2,
        tokens: 4
      })
      await run.write(run.events)
      await run.close()
    }
    server = await dashboard(held.directory)
  }, 120_000)
  afterAll(() => server?.stop())

  it("are edited by keys, stored beside the run, shown by other pages at once, and filter the list", async () => {
    const other = await open(held.browser, server.url)
    await other.page.waitForSelector("table")
    for (const [width, theme] of [
      [1440, "light"],
      [768, "dark"],
      [390, "light"]
    ] as const) {
      const watched = await open(held.browser, `${server.url}/#/first/overview`, { width, theme })
      const { page } = watched
      await page.waitForSelector(landmark.overview)
      const place = `at ${width} pixels, ${theme}`
      await tabTo(page, width === 1440 ? "Add tags or a note" : "Edit tags and note")
      await page.keyboard.press("Enter")
      await tabTo(page, "Tags")
      await page.keyboard.press("Control+A")
      await page.keyboard.type(`keep, width=${width} keep`)
      await tabTo(page, "Note")
      await page.keyboard.press("Control+A")
      await page.keyboard.type(`Better ${place}.`)
      await assertInOrder(page, `form ${place}`)
      await tabTo(page, "Save")
      await page.keyboard.press("Enter")
      await page.getByText(`Better ${place}.`).waitFor()
      await until(page, `document.activeElement.textContent === "Edit tags and note"`)
      await assertInOrder(page, place)
      assert.deepStrictEqual(JSON.parse(await readFile(`${held.directory}/first/annotation.json`, "utf8")), {
        tags: ["keep", `width=${width}`],
        note: `Better ${place}.`
      })
      await until(other.page, `document.querySelector("table").textContent.includes("width=${width}")`)

      await page.goto(`${server.url}/#/?filter=tag%3Dkeep`)
      await until(page, `document.querySelectorAll("table.rows tbody tr").length === 1`)
      await assertInOrder(page, `list ${place}`)
      await tabTo(page, `width=${width}`)
      await page.keyboard.press("Enter")
      await until(page, `document.querySelector("input[type=search]").value === "tag=width=${width}"`)
      assert.include(await page.textContent("table.rows tbody"), "first")
      assertClean(watched)
      await page.close()
    }
    await other.page.close()
  })

  it("are refused with a reason when they exceed a bound or were changed elsewhere, and keep what was typed", async () => {
    const watched = await open(held.browser, `${server.url}/#/second/overview`)
    const { page } = watched
    await page.waitForSelector(landmark.overview)
    await page.getByText("Add tags or a note").click()
    await page.getByRole("textbox", { name: "Tags" }).fill("x".repeat(41))
    await page.keyboard.press("Enter")
    await page.getByText("is not valid, expected 1 to 40 visible characters").waitFor()
    assert.deepStrictEqual(await violations(page), [])
    await page.getByRole("textbox", { name: "Tags" }).fill("mine")
    await writeFile(`${held.directory}/second/annotation.json`, JSON.stringify({ tags: ["theirs"], note: "" }))
    await page.keyboard.press("Enter")
    await page.getByText("were changed elsewhere").waitFor()
    assert.strictEqual(await page.getByRole("textbox", { name: "Tags" }).inputValue(), "mine")
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.getByRole("link", { name: "theirs" }).waitFor()
    assert.deepStrictEqual(watched.foreign, [])
    await page.close()
  })

  it("that cannot be read are a problem of their run alone", async () => {
    const watched = await open(held.browser, server.url)
    const { page } = watched
    await page.waitForSelector("table")
    await writeFile(`${held.directory}/second/annotation.json`, "{")
    await page.getByText("annotation.json is not a valid annotation").first().waitFor()
    assert.strictEqual(await page.locator("table.rows tbody tr").count(), 2)
    for (const width of [1440, 768, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await assertInOrder(page, `list at ${width} pixels`)
    }
    await page.getByRole("link", { name: "second" }).click()
    await page.waitForSelector(landmark.overview)
    await page.getByRole("alert").getByText("Correct or remove the file").waitFor()
    assert.strictEqual(await page.getByText("tags and note", { exact: false }).filter({ hasText: "Edit" }).count(), 0)
    assert.deepStrictEqual(await violations(page), [])
    assert.strictEqual(await readFile(`${held.directory}/second/annotation.json`, "utf8"), "{")
    assertClean(watched)
    await page.close()
  })
})
