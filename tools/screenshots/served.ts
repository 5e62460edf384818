/** Takes the pictures of a served population for docs/dashboard: `node tools/screenshots/served.ts`; `--out DIR` selects another folder. */
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { endAll } from "../../test/cli/Inspo.ts"
import { launch, open } from "../../test/browser/support/Browser.ts"
import { better, converse, make, propose, seed, serve, worse } from "../../test/browser/support/Served.ts"

const { values } = parseArgs({
  options: { out: { type: "string", default: fileURLToPath(new URL("../../docs/dashboard", import.meta.url)) } }
})

const pictures = [
  { name: "served-1440", view: "members", width: 1440, theme: "light" },
  { name: "served-1440-dark", view: "members", width: 1440, theme: "dark" },
  { name: "served-390", view: "members", width: 390, theme: "light" },
  { name: "served-lineage-1440", view: "lineage?instruction=i2", width: 1440, theme: "light" },
  { name: "served-history-1440", view: "history", width: 1440, theme: "light" }
] as const

const folder = await mkdtemp(join(tmpdir(), "inspo-screenshots-"))
const browser = await launch()
try {
  await mkdir(values.out, { recursive: true })
  const first = await serve(folder)
  const settings = { sealAfterLeases: 50, schedule: { evolveEvery: 0 } }
  await make(first.url, "support", { seed, variants: [better, worse], settings })
  await converse(first.url, "support", 1000)
  await first.stop()
  await propose(folder, "support", [`${better} Give the number of the parcel where you know it.`])
  const server = await serve(folder)
  await converse(server.url, "support", 70, 5)
  for (const { name, theme, view, width } of pictures) {
    const { page } = await open(browser, `${server.url}/#/support/${view}`, { width, height: 860, theme })
    await page.locator("main .card").first().waitFor()
    await page.waitForTimeout(1500)
    await page.screenshot({ path: join(values.out, `${name}.png`), fullPage: true })
    await page.close()
  }
} finally {
  await browser.close()
  endAll()
  await rm(folder, { recursive: true, force: true })
}
