/** Takes the pictures of a search and a comparison for docs/dashboard: `node tools/screenshots/searched.ts`; `--out DIR` selects another folder. */
import { once } from "node:events"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { endAll, start } from "../../test/cli/Inspo.ts"
import { dashboard, launch, open } from "../../test/browser/support/Browser.ts"
import { command, given, good, model, prepare } from "../../test/browser/support/Searched.ts"

const { values } = parseArgs({
  options: { out: { type: "string", default: fileURLToPath(new URL("../../docs/dashboard", import.meta.url)) } }
})

const pictures = [
  { name: "search-1440", view: "search", width: 1440, theme: "light" },
  { name: "search-1440-dark", view: "search", width: 1440, theme: "dark" },
  { name: "search-390", view: "search", width: 390, theme: "light" },
  { name: "search-lineage-1440", view: "lineage", width: 1440, theme: "light" },
  { name: "search-cases-1440", view: "cases", width: 1440, theme: "light" },
  { name: "comparison-1440", view: "comparison", width: 1440, theme: "light" },
  { name: "comparison-390", view: "comparison", width: 390, theme: "light" }
] as const

const folder = await mkdtemp(join(tmpdir(), "inspo-screenshots-"))
const browser = await launch()
const server = await model()
try {
  await mkdir(values.out, { recursive: true })
  await prepare(folder, 80)
  const searching = start([...command(server.url), "--calls", "300", "--out", "tickets"], folder)
  await once(searching, "close")
  const comparing = start(
    ["compare", "prompt.txt", `${given} ${good}`, "--cases", "tickets.csv", ...command(server.url).slice(3)].concat(
      "--out",
      "compared"
    ),
    folder
  )
  await once(comparing, "close")
  const pages = await dashboard(folder)
  for (const { name, theme, view, width } of pictures) {
    const { page } = await open(browser, `${pages.url}/#/${view === "comparison" ? "compared" : "tickets"}/${view}`, {
      width,
      height: 860,
      theme
    })
    await page.locator("main .card").first().waitFor()
    await page.waitForTimeout(1000)
    await page.screenshot({
      path: join(values.out, `${name}.png`),
      fullPage: name === "search-1440" || view === "comparison"
    })
    await page.close()
  }
  await pages.stop()
} finally {
  await browser.close()
  server.stop()
  endAll()
  await rm(folder, { recursive: true, force: true })
}
