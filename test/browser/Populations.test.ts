import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Inspo } from "@inspo/client"
import { assert, beforeAll, it } from "vitest"
import * as PostgresServer from "../../packages/journal/test/support/PostgresServer.ts"
import {
  assertClean,
  assertInert,
  assertViewsInOrder,
  fixture,
  open,
  suite,
  until,
  violations
} from "./support/Browser.ts"
import { better, converse, make, propose, seed, serve, type Served, worse } from "./support/Served.ts"

const views = ["members", "lineage", "history"] as const

/** An element of each view. */
const landmark = { members: ".rows", lineage: ".tree-node", history: ".history" } as const

const hostile =
  "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">" +
  "<a href=\"javascript:document.title='owned'\">click</a><style>*{display:none}</style>" +
  `\u202Eright to left\u202C \u{1F4A5} ${"x".repeat(5000)}`

const held = fixture()
let server: Served

suite("served populations", () => {
  beforeAll(async () => {
    const first = await serve(held.directory)
    const settings = { sealAfterLeases: 50, schedule: { evolveEvery: 0 } }
    await make(first.url, "shop", { seed, variants: [better, worse], settings })
    await converse(first.url, "shop", 1000)
    await make(first.url, "hostile", { seed: hostile, variants: [`${hostile} indeed`], settings })
    await first.stop()
    await propose(held.directory, "shop", [`${better} Be friendly.`, `${better} Be brief.`])
    await propose(held.directory, "hostile", [`${hostile} and more`])
    server = await serve(held.directory)
    await converse(server.url, "shop", 70, 5)
  }, 120_000)

  const view = async (population: string, name: (typeof views)[number], options = {}) => {
    const watched = await open(held.browser, `${server.url}/#/${population}/${name}`, options)
    await watched.page.waitForSelector(landmark[name])
    return watched
  }

  it("shows every view in order at three widths in both themes", () =>
    assertViewsInOrder(held.browser, `${server.url}/#/shop`, landmark))

  it("shows the rewards of the members, why one was pruned, and what is next", async () => {
    const watched = await view("shop", "members")
    const { page } = watched
    assert.include(await page.locator(".headline").textContent(), "incumbent")
    assert.include(await page.locator("main").textContent(), "approval of")
    for (const place of [".headline .name", ".tile .name"])
      assert.match((await page.locator(place).first().textContent()) ?? "", /^Ask which/u)
    const chart = page.locator("figure.chart", { hasText: "Mean reward" })
    // The drawing is within its figure, where nothing is cut off.
    const [area, canvas] = [await chart.boundingBox(), await chart.locator(".plot").boundingBox()]
    assert.isNotNull(area)
    assert.isNotNull(canvas)
    assert.isAtMost(canvas.y + canvas.height, area.y + area.height + 1)
    assert.include(await chart.locator(".chart-canvas").getAttribute("aria-label"), "i1 “Ask which")
    await chart.getByRole("button", { name: "Options of Mean reward" }).focus()
    await page.keyboard.press("Enter")
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save CSV" }).press("Enter")
    ])
    const rows = (await readFile(await file.path(), "utf8")).trim().split("\n")
    assert.isAbove(rows.length, 2, "a row for each closed cohort")
    await page.keyboard.press("Escape")
    const all = page.getByRole("button", { name: "Show all" })
    assert.isTrue(await all.isDisabled())
    await page.getByRole("button", { name: "Zoom in" }).press("Enter")
    await all.press("Enter")
    assert.isTrue(await all.isDisabled())
    await page.goto(`${server.url}/#/shop/lineage?instruction=i2`)
    await page.getByText(/with certainty 9\d\.\d %; value [\d.]+, against [\d.]+ of i1 “Ask which/u).waitFor()
    await page.goto(`${server.url}/#/shop/history`)
    await page.getByText("The incumbent is now i1 “Ask which").waitFor()
    assertClean(watched)
    await page.close()
  })

  it("shows new data while it is open", async () => {
    const watched = await view("shop", "members")
    const { page } = watched
    const tile = `[...document.querySelectorAll(".tile")].find((one) => one.textContent.startsWith("Leases")).textContent`
    const before = await page.evaluate(tile)
    await converse(server.url, "shop", 10)
    await until(page, `${tile} !== ${JSON.stringify(before)}`)
    assertClean(watched)
    await page.close()
  })

  it("lets an admin approve, reject, add, pin, retire, freeze and resume", async () => {
    const watched = await view("shop", "members")
    const { page } = watched
    await page.locator("ins", { hasText: "Be friendly." }).waitFor()
    await page
      .getByRole("button", { name: /^Approve/u })
      .first()
      .click()
    await page.locator("ins", { hasText: "Be friendly." }).waitFor({ state: "detached" })
    await page.getByRole("button", { name: /^Reject/u }).click()
    await page.getByText("waiting for approval").first().waitFor({ state: "detached" })

    await page.goto(`${server.url}/#/shop/lineage?instruction=i1`)
    await page.getByRole("button", { name: "Edit as a new member" }).click()
    await page.locator("textarea").fill(`${better} Give the number of the parcel.`)
    await page.getByRole("button", { name: "Add as a new member" }).click()
    await page.locator(".tree-node", { hasText: "added" }).click()
    await page.locator("ins", { hasText: "Give the number of the parcel." }).waitFor()
    for (const act of [/^Pin/u, /^Unpin/u, /^Retire/u]) {
      await page.getByRole("button", { name: act }).click()
      await page.getByRole("button", { name: act }).click()
      await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" })
    }
    await page.locator(".tree-node", { hasText: "retired" }).waitFor()
    await page.getByRole("button", { name: "Freeze" }).click()
    await page.getByText("frozen", { exact: true }).first().waitFor()
    await page.getByRole("button", { name: "Resume" }).click()
    await page.getByRole("button", { name: "Freeze" }).waitFor()
    assertClean(watched)
    await page.close()
  })

  it("shows why a request was refused", async () => {
    const watched = await view("shop", "lineage")
    const { page } = watched
    await page.goto(`${server.url}/#/shop/lineage?instruction=i0`)
    await page.getByRole("button", { name: "Retire i0" }).click()
    await page.getByRole("button", { name: "Retire i0" }).click()
    await page.locator(".problem", { hasText: "seed" }).waitFor()
    await page.close()
  })

  it("shows hostile text as text, without any effect", async () => {
    for (const name of views) {
      const watched = await view("hostile", name)
      const { page } = watched
      await assertInert(page, name)
      assertClean(watched)
      await page.close()
    }
  })

  it("asks for a key if one is set, and keeps it in memory only", async () => {
    process.env["INSPO_PAGE_KEY"] = "secret-of-the-admin"
    const folder = await mkdtemp(join(tmpdir(), "inspo-populations-key-"))
    const guarded = await serve(folder, ["--api-key-env", "INSPO_PAGE_KEY"])
    const watched = await open(held.browser, guarded.url)
    const { page } = watched
    await page.getByLabel("Key with the scope admin").fill("wrong")
    await page.getByRole("button", { name: "Use the key" }).click()
    await page.getByText("does not accept this key").waitFor()
    assert.deepStrictEqual(await violations(page), [])
    await page.getByLabel("Key with the scope admin").fill("secret-of-the-admin")
    await page.getByRole("button", { name: "Use the key" }).click()
    await page.getByRole("link", { name: "default" }).waitFor()
    const kept = await page.evaluate(
      `JSON.stringify([location.href, document.cookie, { ...localStorage }, { ...sessionStorage }, history.state])`
    )
    assert.notInclude(String(kept), "secret")
    await page.reload()
    await page.getByLabel("Key with the scope admin").waitFor()
    assert.deepStrictEqual(watched.foreign, [])
    await page.close()
    await guarded.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it.skipIf(PostgresServer.unavailable !== null)(
    `works with populations in PostgreSQL, and shows there why one cannot evolve${PostgresServer.unavailable === null ? "" : ` (skipped: ${PostgresServer.unavailable})`}`,
    async () => {
      const database = await PostgresServer.start()
      const folder = await mkdtemp(join(tmpdir(), "inspo-populations-postgres-"))
      const model = createServer((_, response) => response.writeHead(401).end("{}")).listen(0, "127.0.0.1")
      await once(model, "listening")
      const address = model.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      await writeFile(
        join(folder, "populations.yaml"),
        `proposer: { model: "http://127.0.0.1:${port}/v1#m", budget: { usd: 3 }, prices: [{ model: m, input: 1, output: 1 }] }\n` +
          "populations: { support: { seed: Be brief. } }\n"
      )
      const shared = await serve(folder, ["populations.yaml", "--database", database.url])
      await using inspo = new Inspo({ urls: [shared.url], timeout: 10_000 })
      await (await inspo.lease("support")).reward(0, { feedback: "It was rude." })
      await inspo.flush()
      const watched = await open(held.browser, `${shared.url}/#/support/members`)
      const { page } = watched
      await page.getByText("Be brief.").first().waitFor()
      await fetch(`${shared.url}/v1/populations/support/evolve`, { method: "POST" })
      const banner = page.locator(".problem", { hasText: "Degraded since" })
      await banner.waitFor()
      const text = (await banner.textContent()) ?? ""
      assert.match(text, /127\.0\.0\.1.* key.* repeated automatically/su, text)
      assert.include(await page.locator("main").textContent(), "of $3.00")
      await page.goto(`${shared.url}/#/support/history`)
      await page.getByText("Evolution started from i0 (seed)").waitFor()
      assert.deepStrictEqual(await violations(page), [])
      assertClean(watched)
      await page.close()
      await shared.stop()
      model.close()
      await database.stop()
      await rm(folder, { recursive: true, force: true })
    }
  )
})
