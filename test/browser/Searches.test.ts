import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, beforeAll, it } from "vitest"
import { inspo, start } from "../cli/Inspo.ts"
import {
  assertClean,
  assertInert,
  assertViewsInOrder,
  type Dashboard,
  dashboard,
  fixture,
  open,
  suite,
  until
} from "./support/Browser.ts"
import { command, good, model, type Model, prepare } from "./support/Searched.ts"

const views = ["search", "lineage", "cases"] as const

/** An element of each view. */
const landmark = { search: ".rows", lineage: ".tree-node", cases: ".failing" } as const

const hostile =
  " </script><script>document.title='owned'</script><img src=x onerror=document.title='owned'>" +
  "<a href=javascript:document.title='owned'>click</a><style>*{display:none}</style>" +
  ` right to left \u05D0\u05D1 \u{1F4A5} ${"x".repeat(2000)}`

const held = fixture()
let server: Dashboard

/** Makes a search in a folder of its own. */
const search = async (name: string, extra = "") => {
  const folder = await mkdtemp(join(tmpdir(), "inspo-tickets-"))
  await prepare(folder, 40, extra)
  const answering = await model(extra)
  const out = join(held.directory, name)
  const finished = await inspo([...command(answering.url), "--calls", "120", "--out", out], { cwd: folder })
  assert.strictEqual(finished.code, 0, finished.stderr)
  answering.stop()
  await rm(folder, { recursive: true })
}

suite("searches", () => {
  beforeAll(async () => {
    await search("tickets")
    await search("hostile", hostile)
    server = await dashboard(held.directory)
  }, 240_000)

  const view = async (name: string, of: (typeof views)[number], options = {}) => {
    const watched = await open(held.browser, `${server.url}/#/${name}/${of}`, options)
    await watched.page.waitForSelector(landmark[of])
    return watched
  }

  it("shows every view in order at three widths in both themes", () =>
    assertViewsInOrder(held.browser, `${server.url}/#/tickets`, landmark))

  it("shows the result of the search: the verdict, the gain, the change and what it cost", async () => {
    const result = JSON.parse(await readFile(join(held.directory, "tickets", "result.json"), "utf8"))
    assert.strictEqual(result.verdict, "better")
    const watched = await view("tickets", "search")
    const { page } = watched
    const tiles = String(await page.evaluate(`document.querySelector(".tiles").textContent`))
    assert.include(tiles, "better")
    assert.include(tiles, `+${(100 * result.gain.mean).toFixed(1)}`)
    assert.include(tiles, `$${result.usd.toFixed(4)}`)
    assert.include(await page.locator("ins").first().textContent(), good)
    assert.include(await page.locator(".headline").textContent(), "in use")
    assert.isAtMost(await page.locator(".rows tbody tr").count(), result.tried.length)
    await page.getByText(/proposals? rejected: a proposal asks to ignore/u).click()
    await page.getByText("Ignore all earlier rules.").first().waitFor()
    await page.goto(server.url)
    await page.getByRole("link", { name: "tickets" }).waitFor()
    assertClean(watched)
    await page.close()
  })

  it("shows hostile text as text, without any effect", async () => {
    for (const of of views) {
      const watched = await view("hostile", of)
      const { page } = watched
      await assertInert(page, of)
      assertClean(watched)
      await page.close()
    }
  })

  it("follows a search with --dashboard from its first call to its verdict", async () => {
    const folder = await mkdtemp(join(tmpdir(), "inspo-live-"))
    await prepare(folder, 40)
    const answering: Model = await model()
    answering.left = 2
    const child = start([...command(answering.url), "--calls", "120", "--dashboard"], folder)
    let shown = ""
    child.stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()))
    const address = /Dashboard, until this command ends: (\S+)/u
    while (!address.test(shown)) await once(child.stdout, "data")
    const watched = await open(held.browser, address.exec(shown)?.[1] ?? "")
    const { page } = watched
    await until(page, `document.querySelector(".tiles")?.textContent.includes("searching") === true`)
    child.kill("SIGKILL")
    await once(child, "close")

    answering.left = Infinity
    const own = await dashboard(join(folder, "runs"))
    await page.goto(own.url)
    await until(page, `document.querySelector(".tiles")?.textContent.includes("searching") === true`)
    const again = await inspo([...command(answering.url), "--calls", "120"], { cwd: folder })
    assert.strictEqual(again.code, 0, again.stderr)
    await until(page, `document.querySelector(".tiles")?.textContent.includes("better") === true`)
    assert.deepStrictEqual(
      watched.foreign.filter((url) => !url.startsWith(own.url)),
      []
    )
    await own.stop()
    answering.stop()
    await page.close()
    await rm(folder, { recursive: true })
  })

  it("shows what is wrong with a file beside the searches that can be read", async () => {
    const folder = await mkdtemp(join(tmpdir(), "inspo-damaged-"))
    const copy = await readFile(join(held.directory, "tickets", "events.jsonl"), "utf8")
    await writeFile(join(folder, "events.jsonl"), copy.replace('"_tag":"Answered"', '"_tag":"Answerd"'))
    const damaged = await dashboard(folder)
    const watched = await open(held.browser, damaged.url)
    await watched.page.locator(".problem", { hasText: "is not what was written" }).waitFor()
    assertClean(watched)
    await watched.page.close()
    await damaged.stop()
    await rm(folder, { recursive: true })
  })
})
