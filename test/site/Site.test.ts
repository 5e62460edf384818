import { existsSync, globSync, readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { fileURLToPath } from "node:url"
import type { Browser } from "playwright-core"
import { preview, type PreviewServer } from "vite"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertClean, launch, open, overflow, unavailable, violations } from "../browser/support/Browser.ts"

const built = fileURLToPath(new URL("../../tools/site/dist", import.meta.url))
const missing = existsSync(built) ? unavailable : "there is no tools/site/dist; build it with: npx pnpm@12 site"

/** A page of each kind, and those that the first page leads to. */
const top = [
  "",
  "README.html",
  "ARCHITECTURE.html",
  "CHANGELOG.html",
  "docs/tutorial.html",
  "docs/how-to/improve-a-prompt.html",
  "docs/how-to/serve.html",
  "docs/how-to/install.html",
  "docs/explanation/statistics.html",
  "docs/reference/cli.html",
  "research/docs/evidence.html",
  "packages/evolve/",
  "packages/sampler/api.html",
  "examples/sort-tickets/ai-sdk.ts.html",
  "docs/how-to/"
]

describe.skipIf(missing !== null)(
  `the documentation site${missing === null ? "" : ` (skipped: ${missing})`}`,
  { timeout: 120_000 },
  () => {
    let browser: Browser
    let server: PreviewServer
    let url = ""

    beforeAll(async () => {
      browser = await launch()
      server = await preview({
        configFile: false,
        logLevel: "error",
        appType: "mpa",
        root: join(built, ".."),
        build: { outDir: "dist" },
        preview: { host: "127.0.0.1", port: 0 }
      })
      url = server.resolvedUrls?.local[0] ?? ""
    })

    afterAll(async () => {
      await browser?.close()
      await server?.close()
    })

    it.each(top)("shows /%s in either theme, wide and narrow, without a finding of axe", async (path) => {
      const watched = await open(browser, `${url}${path}`)
      const { page } = watched
      await page.waitForLoadState("networkidle")
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of [1280, 390]) {
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
          await page.setViewportSize({ width, height: 900 })
          const where = `${path} ${colorScheme} ${width}`
          assert.strictEqual(await page.evaluate(isDark), colorScheme === "dark", where)
          assert.deepStrictEqual(await violations(page), [], where)
          assert.isAtMost(await overflow(page), 0, where)
        }
      assert.deepStrictEqual(await page.evaluate(unseen), [])
      assertClean(watched)
      await page.close()
    })

    it("finds evolve() by its name", async () => {
      const watched = await open(browser, url)
      const { page } = watched
      await page
        .getByRole("button", { name: /search/iu })
        .first()
        .click()
      await page.getByRole("searchbox").fill("evolve")
      const results = page.locator(".VPLocalSearchBox .result")
      await results.first().waitFor()
      const links = await page.evaluate<ReadonlyArray<string>>(found)
      assert.isTrue(
        links.some((link) => link.endsWith("/docs/reference/cli.html#inspo-evolve")),
        links.join(" ")
      )
      assertClean(watched)
      await page.close()
    })

    it("has no link and no image that leads nowhere, anchors included", () => {
      const pages = new Map(
        globSync("**/*.html", { cwd: built }).map((file) => {
          const html = readFileSync(join(built, file), "utf8")
          return [
            file.replaceAll("\\", "/"),
            { ids: new Set(attributes(html, "id")), links: [...attributes(html, "href"), ...attributes(html, "src")] }
          ]
        })
      )
      assert.isAbove(pages.size, 100)
      const broken = [...pages].flatMap(([file, { links }]) =>
        [...new Set(links)]
          .filter((link) => !/^(?:[a-z]+:|\/\/)/u.test(link))
          .flatMap((link) => {
            const [path = "", anchor = ""] = decodeURIComponent(link.replaceAll("&amp;", "&")).split("#")
            const target = path === "" ? file : posix.join(path.startsWith("/") ? "." : posix.dirname(file), path)
            const place = target.endsWith("/") ? `${target}index.html` : target
            const name = place.replace(/^\//u, "")
            const there =
              anchor === "" ? pages.has(name) || existsSync(join(built, name)) : pages.get(name)?.ids.has(anchor)
            return there === true ? [] : [`${file}: ${link}`]
          })
      )
      assert.deepStrictEqual(broken, [])
    })
  }
)

const found = `[...document.querySelectorAll(".VPLocalSearchBox .result")].map(({ href }) => href)`

const isDark = `document.documentElement.classList.contains("dark")`

/** The images of a page that show nothing. */
const unseen = `[...document.images].filter((one) => one.complete && one.naturalWidth === 0).map((one) => one.src)`

const attributes = (html: string, name: string): ReadonlyArray<string> =>
  [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, "gu"))].map(([, value = ""]) => value)
