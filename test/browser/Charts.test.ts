import { mkdir, readFile } from "node:fs/promises"
import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { compact } from "@inspo/report"
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
  until
} from "./support/Browser.ts"
import { syntheticRun } from "./support/SyntheticRun.ts"

const held = fixture()
let server: Dashboard

const sizes = [3, 4]
const seeds = [1, 2, 3]

beforeAll(async () => {
  if (unavailable !== null) return
  await mkdir(`${held.directory}/runs`)
  for (const size of sizes)
    for (const seed of seeds) {
      const run = await syntheticRun(`${held.directory}/runs/size${size}-seed${seed}`, {
        steps: 24,
        questionsPerStep: 6,
        groupSize: size,
        tokens: 8,
        randomSeed: seed,
        questions: `${held.directory}/questions.jsonl`
      })
      // A run that is not finished, with whose end the curve of its group ends.
      await run.write(size === 4 && seed === 3 ? Math.round(run.events / 2) : run.events)
      await run.close()
    }
  server = await dashboard(`${held.directory}/runs`)
}, 120_000)

afterAll(() => server?.stop())

const run = "size3-seed1"
const address = (hash: string) => `${server.url}/#/${hash}`
const grid = ".charts:not(details *) .chart"

/** A part of the query of the present address. */
const query = async (page: Page, name: string): Promise<string | null> =>
  new URLSearchParams(new URL(page.url()).hash.split("?")[1]).get(name)

/** What the chart with this title says of itself. */
const described = (page: Page, title: string) =>
  page.locator(`.chart-canvas[aria-label^="${title}"]`).first().getAttribute("aria-label")

const zoomOf = async (page: Page) => ((await query(page, "zoom")) ?? "").split(":").map(Number)

/** Saves a chart as a file, from its open options. */
const saved = async (page: Page, kind: string): Promise<Buffer> => {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: `Save ${kind}`, exact: true }).click()
  ])
  assert.match(download.suggestedFilename(), new RegExp(`\\.${kind.toLowerCase()}$`, "u"))
  return readFile(await download.path())
}

interface Answer {
  readonly metrics: ReadonlyArray<string>
  readonly series: ReadonlyArray<{
    readonly steps: ReadonlyArray<number>
    readonly x: ReadonlyArray<number | null>
    readonly values: Readonly<Record<string, ReadonlyArray<number | null>>>
    readonly bands: Readonly<Record<string, ReadonlyArray<readonly [number, number] | null>>>
  }>
}

const ask = async (search: string): Promise<Answer> => (await fetch(`${server.url}/api/series?${search}`)).json()

suite("charts", () => {
  it("show any recorded metric, alone or with others, and the same after a reload", async () => {
    const watched = await open(held.browser, address(`${run}/overview`))
    const { page } = watched
    await page.waitForSelector(`${grid} .plot`)
    const usual = await page.locator(grid).count()
    await page.getByRole("button", { name: "Choose charts" }).click()
    const panel = page.getByRole("dialog", { name: "Choose charts" })
    const { metrics } = await ask(`runs=${run}&metrics=&x=step`)
    assert.isAbove(metrics.length, 40)
    assert.include(await panel.textContent(), `${metrics.length} metrics`)
    await panel.getByLabel("Find a metric").fill("drawing i0")
    await panel.getByLabel("Probability of drawing i0").check()
    await until(page, `document.querySelectorAll(${JSON.stringify(grid)}).length === ${usual + 1}`)
    await page.keyboard.press("Escape")
    await until(page, `document.querySelector(".popover:popover-open") === null`)

    await page.getByRole("button", { name: /^Options of Probability of drawing i0/u }).click()
    const options = page.getByRole("dialog", { name: /^Options of Probability/u })
    await options.getByLabel("Find a metric").fill("kl")
    await options.getByLabel("KL to the reference").check()
    await page.keyboard.press("Escape")
    const both = "Probability of drawing i0, KL to the reference"
    await page.waitForSelector(`.chart-canvas[aria-label^="${both}"]`)
    const before = await described(page, both)
    await page.reload()
    await page.waitForSelector(`.chart-canvas[aria-label^="${both}"]`)
    assert.strictEqual(await described(page, both), before)

    await page
      .getByRole("button", { name: `Options of ${both}` })
      .first()
      .click()
    await page.getByRole("button", { name: "Remove chart" }).click()
    await until(page, `document.querySelectorAll(${JSON.stringify(grid)}).length === ${usual}`)
    await page.getByRole("button", { name: "Choose charts" }).click()
    await page.getByRole("button", { name: "Usual charts" }).click()
    assert.isNull(await query(page, "charts"))
    assertClean(watched)
    await page.close()
  })

  it("are zoomed by dragging, moved with Shift, and shown whole again by a double click", async () => {
    const watched = await open(held.browser, address(`${run}/overview?charts=kl&smooth=1`))
    const { page } = watched
    await page.waitForSelector(`${grid} .plot`)
    const box = await page.locator(".plot-area").first().boundingBox()
    if (box === null) return assert.fail("the chart is not there")
    const { height, width, x, y } = box
    const drag = async (from: number, to: number) => {
      await page.mouse.move(x + from * width, y + height / 2)
      await page.mouse.down()
      await page.mouse.move(x + ((from + to) / 2) * width, y + height / 2)
      await page.mouse.move(x + to * width, y + height / 2)
      await page.mouse.up()
    }
    await drag(0.25, 0.75)
    await until(page, `location.href.includes("zoom=")`)
    const [from = 0, to = 0] = await zoomOf(page)
    assert.closeTo(from, 1 + 0.25 * 23, 0.3)
    assert.closeTo(to, 1 + 0.75 * 23, 0.3)
    await page.keyboard.down("Shift")
    await drag(0.5, 0.25)
    await page.keyboard.up("Shift")
    await until(page, `!location.href.includes(${JSON.stringify(`zoom=${encodeURIComponent(`${from}:${to}`)}`)})`)
    const [moved = 0, end = 0] = await zoomOf(page)
    assert.closeTo(moved - from, (to - from) / 4, 0.3)
    assert.closeTo(end - moved, to - from, 0.01)
    await page.mouse.dblclick(x + width / 2, y + height / 2)
    await until(page, `!location.href.includes("zoom=")`)
    await page.waitForTimeout(500)
    assert.isNull(await query(page, "step"), "a double click picks no step")
    assertClean(watched)
    await page.close()
  })

  it("are zoomed, moved and changed with keys alone", async () => {
    const watched = await open(held.browser, address(`${run}/overview`))
    const { page } = watched
    await page.waitForSelector(`${grid} .plot`)
    const press = async (name: string) => {
      const button = page.getByRole("button", { name, exact: true })
      await button.focus()
      await page.keyboard.press("Enter")
    }
    await press("Zoom in")
    assert.deepStrictEqual(await zoomOf(page), [6.75, 18.25])
    await press("Move right")
    assert.deepStrictEqual(await zoomOf(page), [12.5, 24])
    await press("Move left")
    await press("Move left")
    assert.deepStrictEqual(await zoomOf(page), [1, 12.5])
    await press("Zoom out")
    assert.deepStrictEqual(await zoomOf(page), [1, 18.25])
    await press("Show all")
    assert.isNull(await query(page, "zoom"))
    // The panel follows its button in the order of keys, and gives the focus back.
    await press("Choose charts")
    await until(page, `document.querySelector(".popover:popover-open input") !== null`)
    await page.keyboard.press("Tab")
    assert.strictEqual(await page.evaluate(`document.activeElement.getAttribute("aria-label")`), "Find a metric")
    await page.keyboard.type("grad")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Space")
    await until(page, `location.href.includes("grad_norm")`)
    await page.keyboard.press("Escape")
    assert.strictEqual(await page.evaluate(`document.activeElement.getAttribute("aria-label")`), "Choose charts")
    await page.waitForSelector(`.chart-canvas[aria-label^="Gradient norm"]`)
    assertClean(watched)
    await page.close()
  })

  it("count steps, rollouts, tokens or time, smooth over steps, and have a logarithmic axis", async () => {
    const watched = await open(held.browser, address(`${run}/overview?charts=reward/mean`))
    const { page } = watched
    await page.waitForSelector(`${grid} .plot`)
    assert.include(await described(page, "Training EM"), "from step 1 to 24")
    const ends = { rollouts: "Rollouts", tokens: "Tokens", time: "Time, min" }
    for (const x of ["rollouts", "tokens", "time"] as const) {
      const { series } = await ask(`runs=${run}&metrics=&x=${x}`)
      const last = series[0]?.x.at(-1) ?? 0
      const shown = x === "time" ? String(Number((last / 60).toPrecision(3))) : compact(last)
      await page.getByLabel("Horizontal axis").selectOption(x)
      const end = JSON.stringify(`${ends[x]}: ${shown}`)
      await until(page, `document.querySelector(".chart-values").textContent.includes(${end})`)
    }
    await page.getByLabel("Smoothing").selectOption("20")
    await page.getByText("mean of 20", { exact: true }).first().waitFor()
    await page.getByLabel("Smoothing").selectOption("1")
    await until(page, `!document.querySelector(".chart-values").textContent.includes("mean of")`)
    await page.getByLabel("Logarithmic").check()
    assert.strictEqual(await query(page, "y"), "log")
    assert.deepStrictEqual([await query(page, "x"), await query(page, "smooth")], ["time", "1"])
    assertClean(watched)
    await page.close()
  })

  it("are saved as a figure for a paper, a picture and values: those of the server, within the zoom", async () => {
    const watched = await open(
      held.browser,
      address(`${run}/compare?with=size4-seed1&charts=kl&x=tokens&smooth=1&y=log`)
    )
    const { page } = watched
    await page.waitForSelector(`${grid} .plot`)
    await page.getByRole("button", { name: "Zoom in" }).click()
    const [from = 0, to = 0] = await zoomOf(page)
    await page.getByRole("button", { name: /^Options of KL/u }).click()
    const { series } = await ask(`runs=${run},size4-seed1&metrics=kl&x=tokens`)
    const csv = (await saved(page, "CSV")).toString()
    const [head, ...rows] = csv.trim().split("\r\n")
    assert.strictEqual(head, `Tokens,${run} (EM),size4-seed1 (EM)`)
    for (const [column, { values, x }] of series.entries()) {
      const expected = x.flatMap((at, index) =>
        at !== null && at >= from && at <= to ? [[at, values["kl"]?.[index]]] : []
      )
      assert.isAbove(expected.length, 5)
      assert.deepStrictEqual(
        rows
          .map((row) => row.split(","))
          .flatMap((row) => (row[column + 1] === "" ? [] : [[Number(row[0]), Number(row[column + 1])]])),
        expected
      )
    }
    const svg = (await saved(page, "SVG")).toString()
    // A page of its own: the policy of the dashboard's page forbids styles in what it parses.
    const reader = await held.browser.newPage()
    const drawn = await reader.evaluate(
      `(() => {
        const svg = new DOMParser().parseFromString(${JSON.stringify(svg)}, "image/svg+xml")
        return {
          texts: [...svg.querySelectorAll("text, tspan")].map((one) => one.textContent),
          curves: [...svg.querySelectorAll("polyline")].map((one) => one.getAttribute("points").split(" ").length),
          images: svg.querySelectorAll("image, parsererror, script").length,
          root: svg.documentElement.namespaceURI
        }
      })()`
    )
    await reader.close()
    const { curves, images, root, texts } = drawn as {
      readonly texts: ReadonlyArray<string>
      readonly curves: ReadonlyArray<number>
      readonly images: number
      readonly root: string
    }
    assert.deepStrictEqual([root, images], ["http://www.w3.org/2000/svg", 0])
    assert.includeMembers([...texts], ["Tokens", "KL to the reference, nats", `${run} (EM)`, "size4-seed1 (EM)"])
    assert.strictEqual(curves.length, 2)
    assert.strictEqual(curves[0], rows.filter((row) => row.split(",")[1] !== "").length)
    const png = await saved(page, "PNG")
    assert.strictEqual(png.subarray(1, 4).toString(), "PNG")
    assert.isAbove(png.readUInt32BE(16), 1300)
    assertClean(watched)
    await page.close()
  })

  it("have no finding of axe, and fit, at three widths in both themes with a panel open", async () => {
    for (const { theme, width } of looks) {
      const watched = await open(
        held.browser,
        address(`${run}/overview?charts=reward/mean,kl;loss&y=log&x=time&zoom=100:500`),
        { width, theme }
      )
      const { page } = watched
      await page.waitForSelector(`${grid} .plot`)
      await assertInOrder(page, `${width} ${theme}`)
      for (const name of ["Choose charts", /^Options of/u]) {
        await page.getByRole("button", { name }).first().click()
        await page.waitForSelector(".popover:popover-open .picker")
        await assertInOrder(page, `${width} ${theme} ${name}`)
        const cut = await page.evaluate(
          `(({ left, right, top, bottom }) => left < 0 || top < 0 || right > innerWidth || bottom > innerHeight)(document.querySelector(".popover:popover-open").getBoundingClientRect())`
        )
        assert.isFalse(cut)
        await page.keyboard.press("Escape")
      }
      assertClean(watched)
      await page.close()
    }
  })
})

suite("groups of seeds", () => {
  it("have curves of means with intervals on one axis, which are chosen and kept in the address", async () => {
    for (const [width, theme] of [
      [1440, "light"],
      [390, "dark"]
    ] as const) {
      const watched = await open(held.browser, address("?group=seeds&smooth=1"), { width, theme })
      const { page } = watched
      await page.waitForSelector(`${grid} .plot`)
      assert.include(await page.textContent("main"), "of 24, with its shortest run.")
      await page.getByRole("button", { name: /^Options of Training reward/u }).click()
      const [head = "", ...rows] = (await saved(page, "CSV")).toString().trim().split("\r\n")
      await page.keyboard.press("Escape")
      assert.strictEqual(head.split(",").length, 7)
      const { series } = await ask(
        `runs=${seeds.map((seed) => `size3-seed${seed}`).join(",")}&metrics=reward/mean&x=step`
      )
      const place = head.split(",").findIndex((name) => name.includes("=3 "))
      for (const [index, row] of rows.entries()) {
        const values = series.map((one) => one.values["reward/mean"]?.[index] ?? Number.NaN)
        const cells = row.split(",").map(Number)
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length
        assert.closeTo(cells[place] ?? -1, mean, 1e-12)
        // Student's 97.5 % quantile of two degrees of freedom.
        const deviation = Math.hypot(...values.map((value) => value - mean)) / Math.sqrt(2)
        const half = (4.302_652_729_911_275 * deviation) / Math.sqrt(3)
        assert.closeTo(cells[place + 1] ?? -1, Math.max(0, mean - half), 1e-9)
        assert.closeTo(cells[place + 2] ?? -1, Math.min(1, mean + half), 1e-9)
      }
      assert.strictEqual(rows.length, 24)
      await assertInOrder(page, `${width} ${theme}`)
      await page.getByLabel(/^Draw \w+ rollout\.groupSize=4$/u).uncheck()
      await until(page, `location.href.includes("draw=size3-seed")`)
      await page.reload()
      await page.waitForSelector(`${grid} .plot`)
      assert.isFalse(await page.getByLabel(/^Draw \w+ rollout\.groupSize=4$/u).isChecked())
      assertClean(watched)
      await page.close()
    }
  })

  it("are those of the runs that the filter shows, by time too", async () => {
    const found = async (filter: string) => {
      const { series } = await ask(
        `runs=size4-seed1&metrics=reward/mean&smooth=1&x=time&filter=${encodeURIComponent(filter)}`
      )
      return series[0]
    }
    const all = await found("")
    const finished = await found("finished")
    assert.isBelow(all?.steps.length ?? 99, 24)
    assert.strictEqual(finished?.steps.length, 24)
    assert.isAbove(finished?.x.at(-1) ?? 0, all?.x.at(-1) ?? Infinity)
    assert.isUndefined(await found("size3"))
  })
})
