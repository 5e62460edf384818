import { once } from "node:events"
import { cp, readFile, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { afterAll, assert, beforeAll, it, vi } from "vitest"
import {
  assertClean,
  assertInert,
  assertInOrder,
  type Dashboard,
  dashboard,
  landmark,
  latency,
  looks,
  median,
  open,
  overflow,
  show,
  slowdown,
  suite,
  until,
  views,
  violations,
  fixture
} from "./support/Browser.ts"
import { syntheticRun, type SyntheticRun } from "./support/SyntheticRun.ts"

const small = { steps: 30, questionsPerStep: 12, groupSize: 4, tokens: 20 }

const held = fixture()

/** An expression for the page: the text of the element has changed. */
const changed = (selector: string, before: string | null) =>
  `document.querySelector(${JSON.stringify(selector)})?.textContent !== ${JSON.stringify(before)}`

suite("a finished run", () => {
  let server: Dashboard
  beforeAll(async () => {
    for (const name of ["first", "second"]) {
      const run = await syntheticRun(`${held.directory}/finished/${name}`, { ...small, text: name })
      await run.write(run.events)
      await run.close()
    }
    server = await dashboard(`${held.directory}/finished`)
  }, 120_000)
  afterAll(() => server?.stop())

  it("sends less than 200 kB for the page, shows each gain with its interval, and marks wrong answers", async () => {
    const watched = await open(held.browser, server.url)
    const { page } = watched
    await page.waitForSelector("table")
    const sent = await page.evaluate(
      `performance.getEntriesByType("resource").filter(({ name }) => name.includes("/assets/")).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`
    )
    assert.isAbove(Number(sent), 0)
    assert.isBelow(Number(sent), 200_000)
    await show(page, "first", "overview")
    await page.waitForSelector(landmark.overview)
    const notes = String(await page.evaluate(`document.querySelector(".tiles").textContent`))
    assert.match(notes, /training [+−][\d.]+ points \[[+−][\d.]+, [+−][\d.]+\]/u)
    await page.goto(`${server.url}/#/first/trajectories?outcome=wrong`)
    await page.waitForSelector(".text-part-answer")
    assert.deepStrictEqual(
      await page.evaluate(
        `[...document.querySelectorAll(".text-part-answer")].map((one) => [one.classList.contains("wrong"), one.textContent.startsWith("wrong answer")])[0]`
      ),
      [true, true]
    )
    assertClean(watched)
    await page.close()
  })

  it("shows every view in order at three widths in both themes, after a reload too", async () => {
    for (const look of looks) {
      const watched = await open(held.browser, server.url, look)
      const { page } = watched
      const place = `${look.width} pixels, ${look.theme}`
      await page.waitForSelector("table")
      await assertInOrder(page, `list, ${place}`)
      for (const view of views) {
        await show(page, "first", view)
        if (look === looks[0]) {
          await page.reload()
          await page.waitForSelector(landmark[view])
        }
        await assertInOrder(page, `${view}, ${place}`)
      }
      await page.goto(`${server.url}/#/unknown/overview`)
      await page.getByRole("heading", { name: "There is no run or search unknown" }).waitFor()
      await assertInOrder(page, `unknown, ${place}`)
      assertClean(watched)
      await page.close()
    }
  }, 240_000)

  it("fits a wall", async () => {
    const watched = await open(held.browser, server.url, { width: 3840 })
    for (const view of views) {
      await show(watched.page, "first", view)
      assert.isAtMost(await overflow(watched.page), 0, view)
    }
    assertClean(watched)
    await watched.page.close()
  })

  it("filters and pages trajectories, and keeps the selection in the address", async () => {
    const watched = await open(held.browser, `${server.url}/#/first/trajectories`)
    const { page } = watched
    await page.waitForSelector(".turns")
    const all = await page.locator(".list-card h2").textContent()
    await page.getByLabel("Outcome").selectOption("wrong")
    await until(page, changed(".list-card h2", all))
    assert.deepStrictEqual(new Set(await page.locator(".outcome").allTextContents()), new Set(["0 %"]))
    await page.getByLabel("Next page").click()
    await until(page, `document.querySelector(".pager").textContent.includes("31")`)
    await page.reload()
    await page.waitForSelector(".turns")
    assert.include(await page.locator(".pager").textContent(), "31")
    assert.strictEqual(await page.getByLabel("Outcome").inputValue(), "wrong")
    await page.getByLabel("Failure mode").selectOption("evidence-not-stated")
    await page.getByText("Nothing matches").waitFor()
    assertClean(watched)
    await page.close()
  })

  it("goes back step by step on a phone, and does not leave the page early", async () => {
    const watched = await open(held.browser, server.url, { width: 400 })
    const { page } = watched
    await page.waitForSelector("table")
    await page.getByRole("link", { name: "first" }).click()
    await page.waitForSelector(landmark.overview)
    await page.getByRole("link", { name: "Trajectories" }).click()
    await page.waitForSelector(".line")
    const list = page.url()
    await page.locator(".line").nth(2).click()
    await page.waitForSelector(".turns")
    await page.goBack()
    await until(page, `location.href === ${JSON.stringify(list)}`)
    await page.locator(".line").nth(1).click()
    await page.waitForSelector(".turns")
    await page.getByText("Back to the list").click()
    await until(page, `location.href === ${JSON.stringify(list)}`)
    await page.getByLabel("Outcome").selectOption("wrong")
    await until(page, `location.href.includes("wrong")`)
    await page.goBack()
    await until(page, `location.href === ${JSON.stringify(list)}`)
    await page.goBack()
    await page.waitForSelector(landmark.overview)
    await page.goBack()
    await page.waitForSelector(".rows")
    assertClean(watched)
    await page.close()
  })

  it("does not cut labels of axes, lists and table heads", async () => {
    for (const width of [400, 1280, 3840]) {
      const watched = await open(held.browser, server.url, { width })
      const { page } = watched
      for (const view of views) {
        await show(page, "first", view)
        const cut = await page.evaluate(
          `[...document.querySelectorAll("th, .chart-title, .tile-label, .field > span, select")]
            .filter((element) => element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline")
            .map((element) => element.textContent)`
        )
        assert.deepStrictEqual(cut, [], `${view} at ${width} pixels`)
      }
      await page.close()
    }
  })

  it("links a candidate to the rollouts of its verification", async () => {
    const watched = await open(held.browser, `${server.url}/#/first/lineage`)
    const { page } = watched
    await page.locator(".tree-node", { hasText: "verified" }).first().click()
    await page.getByText("Its rollouts").waitFor()
    const mean = await page.locator(".bar b").first().textContent()
    await page.getByText("Its rollouts").click()
    await page.waitForSelector(".turns")
    const found = async () => Number.parseInt((await page.locator(".list-card h2").textContent()) ?? "", 10)
    const all = await found()
    await page.getByLabel("Outcome").selectOption("right")
    await until(page, `!document.querySelector(".list-card h2").textContent.startsWith("${all} ")`)
    assert.strictEqual(`${((100 * (await found())) / all).toFixed(1)} %`, mean)
    await page.getByLabel("Purpose").selectOption("verify")
    await page.locator(".line-note", { hasText: "verification" }).first().waitFor()
    await page.getByLabel("Purpose").selectOption("train")
    await page.getByText("Nothing matches").waitFor()
    assertClean(watched)
    await page.close()
  })

  it("works with keys only", async () => {
    const watched = await open(held.browser, `${server.url}/#/first/overview`)
    const { page } = watched
    for (const [index, view] of views.entries()) {
      await page.keyboard.press(String(index + 1))
      await page.waitForSelector(landmark[view])
    }
    await page.keyboard.press("4")
    await page.waitForSelector(".line.selected")
    const first = await page.locator(".detail-card h2").textContent()
    await page.keyboard.press("j")
    await until(page, changed(".detail-card h2", first))
    await page.keyboard.press("?")
    await page.waitForSelector("dialog[open]")
    await page.keyboard.press("Escape")
    await page.waitForSelector("dialog[open]", { state: "detached" })
    await page.keyboard.press("t")
    assert.strictEqual(await page.evaluate("document.documentElement.dataset.theme"), "dark")
    assertClean(watched)
    await page.close()
  })

  // A loaded machine has kept Chromium from reporting the refused request.
  it("loads the code of a view when it is opened, and again after a failure, by keys", { retry: 2 }, async () => {
    for (const theme of ["light", "dark"] as const) {
      const watched = await open(held.browser, `${server.url}/#/first/overview`, { theme })
      const { page } = watched
      await page.waitForSelector(landmark.overview)
      const code = "**/assets/Lineage-*.js"
      const loaded = `performance.getEntriesByType("resource").filter(({ name }) => name.includes("/assets/Lineage-")).length`
      assert.strictEqual(await page.evaluate(loaded), 0)
      await page.route(code, (route) => route.abort())
      // The page hears keys soon after its first view is shown.
      await vi.waitFor(
        async () => {
          await page.keyboard.press("3")
          assert.include(page.url(), "lineage")
        },
        { timeout: 10_000 }
      )
      await page.getByText("This view could not be loaded").waitFor()
      assert.deepStrictEqual(await violations(page), [], theme)
      await page.unroute(code)
      await page.getByRole("button", { name: "Try again" }).focus()
      await page.keyboard.press("Enter")
      await page.waitForSelector(landmark.lineage)
      // Only the failed request is reported.
      assert.match(watched.errors.join(), /^Failed to load resource: net::ERR_FAILED [^,]*$/u)
      assert.deepStrictEqual(watched.foreign, [])
      await page.close()
    }
  })

  it("refuses requests with another host name", async () => {
    const page = await held.browser.newPage()
    const response = await page.goto(`http://localhost.localdomain:${server.port}/`).catch(() => null)
    if (response !== null) assert.strictEqual(response.status(), 403)
    await page.close()
  })
})

suite("a running run", () => {
  let server: Dashboard
  let run: SyntheticRun
  afterAll(async () => {
    await server?.stop()
    await run?.close()
  })

  it("shows new events in every view, and continues after the server restarts", async () => {
    const place = `${held.directory}/live`
    run = await syntheticRun(`${place}/run`, small)
    server = await dashboard(place)
    const watched = await open(held.browser, server.url)
    const { page } = watched
    await page.waitForSelector(".empty")
    let written = 30
    await run.write(written)
    await until(page, `document.querySelector(".status-running") !== null`)
    for (const view of views) {
      await show(page, "run", view)
      const before = await page.locator(".run-state").textContent()
      await run.write((written += 12))
      await until(page, changed(".run-state", before))
      await page.waitForSelector(landmark[view])
    }
    await show(page, "run", "trajectories")
    const listed = await page.locator(".list-card h2").textContent()
    await run.write((written += 12))
    await until(page, changed(".list-card h2", listed))
    assertClean(watched)

    await server.stop()
    await page.getByText("Connection lost").waitFor()
    await run.write(run.events)
    // A server that is being stopped can accept a connection, keep it, and never answer.
    const silent = createServer().listen(server.port, "127.0.0.1")
    await once(silent, "connection")
    silent.close()
    server = await dashboard(place, server.port)
    await page.getByText("Connection lost").waitFor({ state: "detached" })
    await page.waitForSelector(".status-finished")
    await show(page, "run", "overview")
    await until(page, `document.querySelector(".headline") !== null`)
    assert.deepStrictEqual(watched.foreign, [])
    await page.close()
  })
})

suite("hostile text", () => {
  const hostile =
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">" +
    "<a href=\"javascript:document.title='owned'\">click</a><svg onload=\"document.title='owned'\"></svg>" +
    "<style>*{display:none}</style><iframe srcdoc=\"<script>parent.document.title='owned'</script>\"></iframe>" +
    `\u202Eright to left\u202C \u0000 \u{1F4A5} ${"x".repeat(20_000)}`
  let server: Dashboard
  beforeAll(async () => {
    const run = await syntheticRun(`${held.directory}/hostile/run`, {
      steps: 16,
      questionsPerStep: 3,
      groupSize: 2,
      tokens: 4,
      text: hostile
    })
    await run.write(run.events)
    await run.close()
    server = await dashboard(`${held.directory}/hostile`)
  }, 120_000)
  afterAll(() => server?.stop())

  it("is shown as text, without any effect", async () => {
    const watched = await open(held.browser, server.url)
    const { page } = watched
    for (const view of views) {
      await show(page, "run", view)
      await page.evaluate(`for (const details of document.querySelectorAll("details")) details.open = true`)
      await page.waitForTimeout(150)
      await assertInert(page, view)
    }
    assertClean(watched)
    await page.close()
  })
})

suite("50,000 trajectories over 300 steps", () => {
  let server: Dashboard
  beforeAll(async () => {
    const run = await syntheticRun(`${held.directory}/large/run`, {
      steps: 300,
      questionsPerStep: 34,
      groupSize: 5,
      tokens: 16
    })
    await run.write(run.events)
    await run.close()
    server = await dashboard(`${held.directory}/large`)
  }, 170_000)
  afterAll(() => server?.stop())

  // Limits are those of a machine that does nothing else; where others use it, they grow by what that costs.
  it("shows the first view within a second and answers to hands within 100 ms", { retry: 2 }, async () => {
    const watched = await open(held.browser, "about:blank")
    const { page } = watched
    const before = slowdown()
    const from = performance.now()
    await page.goto(`${server.url}/#/run/overview`)
    await page.waitForSelector(landmark.overview)
    const first = performance.now() - from

    const go = (view: (typeof views)[number]) =>
      latency(page, `location.hash = "#/run/${view}"`, `document.querySelector("${landmark[view]}") !== null`)
    const choose = (label: string, value: string) =>
      latency(
        page,
        `const before = document.querySelector(".list-card h2").textContent
         const select = [...document.querySelectorAll(".field")].find((field) => field.textContent.startsWith("${label}")).querySelector("select")
         Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, "value").set.call(select, "${value}")
         select.dispatchEvent(new Event("change", { bubbles: true }))`,
        `document.querySelector(".list-card h2").textContent !== before`
      )
    const press = (name: string) =>
      latency(
        page,
        `const before = document.querySelector(".pager").textContent
         document.querySelector("[aria-label='${name}']").click()`,
        `document.querySelector(".pager").textContent !== before`
      )
    const pick = (place: number) =>
      latency(
        page,
        `const line = document.querySelectorAll(".line")[${place}]
         line.click()`,
        `document.querySelector(".trajectory .question") !== null && document.querySelectorAll(".line")[${place}].classList.contains("selected")`
      )
    const taken: Array<number> = []
    for (const view of views) taken.push(await go(view))
    for (const view of views) taken.push(await go(view))
    await go("trajectories")
    await page.waitForSelector(".line")
    taken.push(await choose("Outcome", "wrong"), await choose("Instruction", "i3"), await choose("Instruction", ""))
    for (let turn = 0; turn < 6; turn++) taken.push(await press("Next page"), await pick(turn + 1))
    taken.push(await press("Previous page"))
    const slow = Math.max(before, slowdown())
    console.log(
      `first view ${first.toFixed(0)} ms; ${taken.length} interactions: median ${median(taken).toFixed(0)} ms, ` +
        `slowest ${Math.max(...taken).toFixed(0)} ms; the machine is ${slow.toFixed(2)} times slower than idle`
    )
    assert.isAtMost(first, 1000 * slow)
    assert.isAtMost(median(taken), 100 * slow)
    assert.deepStrictEqual(watched.errors, [])
    await page.close()
  })
})

suite("a thousand runs", () => {
  let server: Dashboard
  beforeAll(async () => {
    const place = `${held.directory}/many`
    const run = await syntheticRun(`${place}/lr0-seed0`, { steps: 3, questionsPerStep: 4, groupSize: 2, tokens: 4 })
    await run.write(run.events)
    await run.close()
    const config = JSON.parse(await readFile(`${place}/lr0-seed0/config.json`, "utf8"))
    for (let index = 0; index < 1000; index++) {
      const [rate, seed] = [Math.floor(index / 250), index % 250]
      const copy = `${place}/lr${rate}-seed${seed}`
      if (index > 0) await cp(`${place}/lr0-seed0`, copy, { recursive: true })
      const changed = { ...config, randomSeed: seed, train: { ...config.train, learningRate: 1e-6 * (1 + rate) } }
      await writeFile(`${copy}/config.json`, JSON.stringify(changed))
    }
    server = await dashboard(place)
  }, 170_000)
  afterAll(() => server?.stop())

  it("are listed within a second, and filtered, sorted, grouped and picked without a stall", { retry: 2 }, async () => {
    const watched = await open(held.browser, "about:blank")
    const { page } = watched
    const before = slowdown()
    const from = performance.now()
    await page.goto(`${server.url}/#/`)
    await page.waitForSelector("table.rows tbody tr")
    const first = performance.now() - from
    // Every run is read once in the background.
    await page.goto(`${server.url}/#/?group=seeds`)
    await until(page, `document.querySelectorAll("table.rows > tbody > tr").length === 4`)
    assert.include(await page.textContent("main"), "4 groups of 250 runs that differ in their random seed alone")

    const type = (filter: string, rows: number) =>
      latency(
        page,
        `const input = document.querySelector("input[type=search]")
         Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, ${JSON.stringify(filter)})
         input.dispatchEvent(new Event("input", { bubbles: true }))`,
        `document.querySelectorAll("table.rows > tbody > tr").length === ${rows}`
      )
    const click = (selector: string, done: string) =>
      latency(page, `document.querySelector(${JSON.stringify(selector)}).click()`, done)
    await page.goto(`${server.url}/#/`)
    await until(page, `document.querySelectorAll("table.rows > tbody > tr").length === 100`)
    const heads = `[...document.querySelectorAll("thead th")]`
    const taken = [
      await type("lr2-seed24", 11),
      await type("lr2-seed24 finished", 11),
      await type("learningrate=0.000003 seed24", 11),
      await type("nothing", 0),
      await type("", 100),
      await click("thead th button.sort", `${heads}[0].getAttribute("aria-sort") === "descending"`),
      await click("thead th button.sort", `${heads}[0].getAttribute("aria-sort") === "ascending"`),
      await click("p > button.button", `document.querySelectorAll("table.rows > tbody > tr").length === 200`)
    ]
    const slow = Math.max(before, slowdown())
    console.log(
      `first rows ${first.toFixed(0)} ms; ${taken.length} changes: median ${median(taken).toFixed(0)} ms, ` +
        `slowest ${Math.max(...taken).toFixed(0)} ms; the machine is ${slow.toFixed(2)} times slower than idle`
    )
    assert.isAtMost(first, 1000 * slow)
    assert.isAtMost(median(taken), 100 * slow)
    assert.strictEqual(await page.textContent("table.rows > tbody > tr a"), "lr0-seed0")
    // Rows are picked by keys, and compared in the order in which they were picked.
    for (const name of ["lr0-seed2", "lr0-seed1"]) {
      await page.focus(`input[aria-label="Compare ${name}"]`)
      await page.keyboard.press("Space")
    }
    await page.click("text=Compare 2 runs")
    await page.waitForSelector(landmark.compare)
    assert.include(page.url(), "#/lr0-seed2/compare?with=lr0-seed1")
    assert.deepStrictEqual(watched.errors, [])
    await page.close()
  })
})
