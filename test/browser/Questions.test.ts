import { mkdir, readFile } from "node:fs/promises"
import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import {
  assertClean,
  assertInOrder,
  type Dashboard,
  dashboard,
  fixture,
  looks,
  open,
  suite,
  unavailable,
  type Watched
} from "./support/Browser.ts"
import { syntheticRun } from "./support/SyntheticRun.ts"

const held = fixture()
let server: Dashboard

beforeAll(async () => {
  if (unavailable !== null) return
  await mkdir(`${held.directory}/runs`)
  for (const size of [2, 4])
    for (const seed of [1, 2, 3]) {
      const run = await syntheticRun(`${held.directory}/runs/size${size}-seed${seed}`, {
        steps: 40,
        questionsPerStep: 8,
        groupSize: size,
        tokens: 8,
        randomSeed: seed,
        questions: `${held.directory}/questions.jsonl`
      })
      await run.write(run.events)
      await run.close()
    }
  server = await dashboard(`${held.directory}/runs`)
}, 120_000)

afterAll(() => server?.stop())

interface Answered {
  readonly watched: Watched
  /** Clicks so far: a user's way from the list of runs to the answer. */
  readonly clicks: () => number
  readonly click: (how: (page: Page) => Promise<void>) => Promise<void>
}

const asked = async (width: number, theme: "light" | "dark"): Promise<Answered> => {
  const watched = await open(held.browser, server.url, { width, theme })
  watched.page.setDefaultTimeout(15_000)
  await watched.page.waitForSelector("table")
  let clicks = 0
  return {
    watched,
    clicks: () => clicks,
    click: async (how) => {
      clicks += 1
      await how(watched.page)
    }
  }
}

/** An answer is found in at most three clicks, on a page that is in order. */
const answered = async ({ clicks, watched }: Answered) => {
  assert.isAtMost(clicks(), 3)
  await assertInOrder(watched.page, "the answer")
  assertClean(watched)
  await watched.page.close()
}

const openRun = (page: Page) => page.getByRole("link", { name: "size4-seed1", exact: true }).click()

const signed = String.raw`[+−]\d+\.\d`

suite("a researcher's questions", () => {
  it.each(looks)(
    "which setting helped, and by how much over seeds, at $width pixels, $theme",
    async ({ theme, width }) => {
      const one = await asked(width, theme)
      const { page } = one.watched
      await one.click((page) => page.getByLabel("Group by seeds").check())
      await page.locator(".chart .plot").first().waitFor()
      const groups = page.getByRole("region", { name: "Groups of runs" })
      // The rows are there before all runs are read.
      await groups.getByText("3 pairs").first().waitFor()
      const text = (await groups.textContent()) ?? ""
      for (const size of [2, 4]) assert.include(text, `rollout.groupSize=${size}`)
      assert.match(text, new RegExp(`${signed}\\[${signed}, ${signed}\\]3 pairs`, "u"))
      assert.include((await page.locator("main").textContent()) ?? "", "the same test questions")
      await answered(one)
    }
  )

  it.each(looks)(
    "which clause came when, and what it was worth, at $width pixels, $theme",
    async ({ theme, width }) => {
      const one = await asked(width, theme)
      const { page } = one.watched
      await one.click(openRun)
      await one.click((page) => page.getByRole("link", { name: "Lineage" }).first().click())
      await one.click((page) => page.locator(".tree-node", { hasText: "verified" }).first().click())
      const text = (await page.locator(".split").textContent()) ?? ""
      assert.match(text, /Proposedafter step \d+/u)
      assert.isAbove(((await page.locator("ins").first().textContent()) ?? "").length, 0)
      assert.match(
        text,
        new RegExp(`${signed} points \\[${signed}, ${signed}\\] compared with its parent on the same questions`, "u")
      )
      await answered(one)
    }
  )

  it.each(looks)("the same figure for a paper, at $width pixels, $theme", async ({ theme, width }) => {
    const one = await asked(width, theme)
    const { page } = one.watched
    await one.click(openRun)
    await page.locator(".figure-2 .plot").first().waitFor()
    await one.click((page) =>
      page
        .getByRole("button", { name: /^Options of Training/u })
        .first()
        .click()
    )
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      one.click((page) => page.getByRole("button", { name: "Save SVG" }).click())
    ])
    const svg = await readFile(await file.path(), "utf8")
    assert.match(svg, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/u)
    assert.isAbove([...svg.matchAll(/<polyline class="curve/gu)].length, 1)
    assert.include(svg, "step")
    await answered(one)
  })
})
