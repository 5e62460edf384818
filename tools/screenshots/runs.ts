/**
 * Takes the pictures of docs/dashboard: `node tools/screenshots/runs.ts RUN_DIR…` shows the first of these runs, next to the
 * others. `--out DIR` selects another folder, `--whole` takes whole pages, and `--view NAME` takes one view.
 */
import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import type { Browser, Page } from "playwright-core"
import { endAll, inspo } from "../../test/cli/Inspo.ts"
import { dashboard, landmark, launch, open } from "../../test/browser/support/Browser.ts"

/** The widths of a phone and a laptop in CSS pixels. */
const sizes = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 }
] as const

/** Views that are also shown in dark colours. */
const inTheDark = new Set(["overview", "trajectories"])

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string", default: fileURLToPath(new URL("../../docs/dashboard", import.meta.url)) },
    view: { type: "string", multiple: true },
    whole: { type: "boolean", default: false }
  }
})

/** A picture: its address, an element to wait for, and an action before it is taken. */
interface Subject {
  readonly name: string
  readonly address: string
  readonly ready: string
  readonly prepare?: (page: Page) => Promise<void>
  /** Whether the picture shows the whole page, rather than its first screen. */
  readonly isWhole?: boolean
}

const subjects = (
  server: string,
  [shown = "", ...others]: ReadonlyArray<string>,
  report: string
): ReadonlyArray<Subject> => {
  const run = `${server}/#/${shown}`
  const openTrajectory = async (page: Page) => {
    await page.locator(".line", { hasText: "2 calls" }).first().click()
    await page.waitForSelector(".turns")
  }
  return [
    { name: "runs", address: server, ready: "table" },
    { name: "groups", address: `${server}/#/?group=seeds`, ready: ".chart .plot" },
    { name: "overview", address: `${run}/overview`, ready: landmark.overview },
    { name: "population", address: `${run}/population`, ready: landmark.population },
    {
      name: "lineage",
      address: `${run}/lineage`,
      ready: "ins",
      isWhole: true
    },
    { name: "trajectories", address: `${run}/trajectories`, ready: ".line", prepare: openTrajectory },
    { name: "cost", address: `${run}/cost`, ready: landmark.cost },
    { name: "compare", address: `${run}/compare?with=${others.join(",")}`, ready: landmark.compare },
    { name: "report", address: report, ready: ".figures svg" }
  ]
}

const take = async (browser: Browser, subject: Subject, size: (typeof sizes)[number], theme: "light" | "dark") => {
  const { height, width } = size
  const isWhole = values.whole || subject.isWhole === true
  const { page } = await open(browser, subject.address, { width, height, theme })
  await page.waitForSelector(subject.ready, { timeout: 30_000 })
  await subject.prepare?.(page)
  await page.mouse.move(0, 0)
  if (isWhole) await page.evaluate("window.scrollTo(0, 0)")
  await page.waitForTimeout(500)
  const file = join(values.out, `${subject.name}-${width}${theme === "dark" ? "-dark" : ""}.png`)
  await page.screenshot({ path: file, fullPage: isWhole })
  await page.close()
}

const main = async (directories: ReadonlyArray<string>) => {
  const folder = await mkdtemp(join(tmpdir(), "inspo-screenshots-"))
  await mkdir(values.out, { recursive: true })
  await Promise.all(
    directories.map(async (directory) => symlink(await realpath(directory), join(folder, basename(directory))))
  )
  const [first = ""] = directories
  const report = join(folder, "report.html")
  const { code, stderr } = await inspo(["show", first, "--report", "html", "--out", report], { cwd: process.cwd() })
  if (code !== 0) throw new Error(stderr)
  const server = await dashboard(folder)
  const browser = await launch()
  try {
    const names = directories.map((directory) => basename(directory))
    for (const subject of subjects(server.url, names, pathToFileURL(report).href)) {
      if (values.view !== undefined && !values.view.includes(subject.name)) continue
      for (const size of sizes) await take(browser, subject, size, "light")
      if (inTheDark.has(subject.name)) await take(browser, subject, sizes[1], "dark")
    }
  } finally {
    await browser.close()
    await server.stop()
    endAll()
    await rm(folder, { recursive: true, force: true })
  }
}

if (positionals.length === 0)
  throw new Error("expected the directory of a finished run, and of others to compare it with")
await main(positionals)
