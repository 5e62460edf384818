import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Browser, chromium, type Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe } from "vitest"
import { endAll, inspoServer } from "../../cli/Inspo.ts"

const executablePath = process.env["INSPO_CHROMIUM"] ?? "/usr/bin/chromium"

/** Why no browser can be driven here, or null. */
export const unavailable: string | null =
  process.env["INSPO_BROWSER"] === undefined
    ? "set INSPO_BROWSER=1 to run it"
    : existsSync(executablePath)
      ? null
      : `there is no ${executablePath}; install Debian's chromium or name another in INSPO_CHROMIUM`

/** Tests that need the browser. */
export const suite = (name: string, tests: () => void) =>
  describe.skipIf(unavailable !== null)(
    `${name} in Chromium${unavailable === null ? "" : ` (skipped: ${unavailable})`}`,
    { timeout: 120_000 },
    () => {
      tests()
    }
  )

export const launch = (): Promise<Browser> => chromium.launch({ executablePath, args: ["--no-sandbox"] })

/** A browser and a temporary directory. */
export interface Fixture {
  readonly browser: Browser
  readonly directory: string
}

/** The browser and the directory of a file of tests, from before its first test until after its last one. */
export const fixture = (): Fixture => {
  let held: Fixture | null = null
  const present = (): Fixture => {
    if (held === null) throw new Error("the browser is there once tests have begun")
    return held
  }
  beforeAll(async () => {
    if (unavailable !== null) return
    held = { directory: await mkdtemp(join(tmpdir(), "inspo-browser-")), browser: await launch() }
  })
  afterAll(async () => {
    await held?.browser.close()
    endAll()
    if (held !== null) await rm(held.directory, { recursive: true, force: true })
  })
  return {
    get browser() {
      return present().browser
    },
    get directory() {
      return present().directory
    }
  }
}

/** A started dashboard over a directory of runs. */
export interface Dashboard {
  readonly url: string
  readonly port: number
  readonly stop: () => Promise<void>
}

export const dashboard = async (directory: string, port = 0): Promise<Dashboard> => {
  const { child, ready } = await inspoServer(["dashboard", directory, "--port", String(port), "--json"], {
    cwd: directory
  })
  const { url } = JSON.parse(ready)
  return {
    url,
    port: Number(new URL(url).port),
    stop: () =>
      new Promise((resolve) => {
        child.on("close", () => resolve())
        child.kill("SIGKILL")
      })
  }
}

/** A page with everything it did that it must not: errors it told of, and requests to elsewhere. */
export interface Watched {
  readonly page: Page
  readonly errors: Array<string>
  readonly foreign: Array<string>
}

export const open = async (
  browser: Browser,
  url: string,
  options: {
    readonly width?: number
    readonly height?: number
    readonly theme?: "light" | "dark"
  } = {}
): Promise<Watched> => {
  const { height = 900, theme = "light", width = 1280 } = options
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme })
  const errors: Array<string> = []
  const foreign: Array<string> = []
  page.on(
    "console",
    (message) => message.type() === "error" && errors.push(`${message.text()} (${message.location().url})`)
  )
  page.on("pageerror", ({ message }) => errors.push(message))
  page.on("dialog", (dialog) => {
    errors.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL(url).origin) && !request.url().startsWith("data:"))
      foreign.push(request.url())
  })
  await page.goto(url)
  return { page, errors, foreign }
}

export const views = ["overview", "population", "lineage", "trajectories", "cost", "compare"] as const

/** What each view shows once it is there. */
export const landmark: Readonly<Record<(typeof views)[number], string>> = {
  overview: ".figure-2 .plot",
  population: ".ribbon",
  lineage: ".life",
  trajectories: ".line",
  cost: ".share-bar",
  compare: ".chart .plot"
}

export const show = async (page: Page, run: string, view: (typeof views)[number]) => {
  await page.evaluate(`location.hash = "#/${run}/${view}"`)
  await page.waitForSelector(landmark[view], { timeout: 15_000 })
}

/** Waits for an expression of the page's script; Playwright's own way evaluates inside the page, which its policy forbids. */
export const until = async (page: Page, expression: string): Promise<void> => {
  const limit = performance.now() + 30_000
  while (!(await page.evaluate(expression))) {
    if (performance.now() > limit) throw new Error(`it never came true that ${expression}`)
    await page.waitForTimeout(25)
  }
}

const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** The findings of axe, each in one line. */
export const violations = async (page: Page): Promise<ReadonlyArray<string>> => {
  // Evaluated rather than added as a script, which the page's own policy forbids.
  await page.evaluate(axeSource)
  return page.evaluate(`
    axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.map(({ help, id, nodes }) => id + ": " + help + ": " + nodes.slice(0, 3).map(({ html }) => html).join(" "))
    )
  `)
}

/** Laptop, tablet and phone, each in both themes. */
export const looks = [1440, 768, 390].flatMap((width) =>
  (["light", "dark"] as const).map((theme) => ({ width, theme }))
)

/** The page has no finding of axe, and is not wider than its window. */
export const assertInOrder = async (page: Page, place: string): Promise<void> => {
  assert.deepStrictEqual(await violations(page), [], place)
  assert.isAtMost(await overflow(page), 0, place)
}

/** Every view below an address is in order at three widths in both themes. A view is there once its landmark is. */
export const assertViewsInOrder = async (
  browser: Browser,
  address: string,
  landmarks: Readonly<Record<string, string>>
): Promise<void> => {
  for (const look of looks) {
    const watched = await open(browser, address, look)
    const { page } = watched
    for (const [view, landmark] of Object.entries(landmarks)) {
      await page.goto(`${address}/${view}`)
      await page.waitForSelector(landmark)
      await assertInOrder(page, `${view}, ${look.width} pixels, ${look.theme}`)
    }
    assertClean(watched)
    await page.close()
  }
}

/** Hostile text that a page shows, which would set the title to `owned`, has no effect. */
export const assertInert = async (page: Page, place: string): Promise<void> => {
  assert.notInclude(await page.title(), "owned", place)
  const made = await page.evaluate(
    `document.querySelectorAll("main script, main iframe, main img, main style, main a[href^='javascript']").length`
  )
  assert.strictEqual(made, 0, place)
  assert.isAtMost(await overflow(page), 0, place)
}

/** Pixels by which a page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate("document.documentElement.scrollWidth - window.innerWidth")

/** Milliseconds from `act` until `done` holds, measured inside the page. Both are expressions of the page's own script. */
export const latency = (page: Page, act: string, done: string): Promise<number> =>
  page.evaluate(
    `new Promise((resolve, reject) => {
      const from = performance.now()
      ${act}
      const look = () => {
        if (${done}) return requestAnimationFrame(() => resolve(performance.now() - from))
        if (performance.now() - from > 10000) return reject(new Error("nothing happened after " + ${JSON.stringify(act)}))
        requestAnimationFrame(look)
      }
      look()
    })`
  )

/** How many times slower this machine works because others use it too: 1 when it is idle. */
export const slowdown = (): number => {
  const before = process.cpuUsage()
  const from = performance.now()
  while (performance.now() - from < 400) Math.sqrt(performance.now())
  const { system, user } = process.cpuUsage(before)
  return Math.max(1, (1000 * (performance.now() - from)) / (system + user))
}

export const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

export const assertClean = ({ errors, foreign }: Watched): void => {
  assert.deepStrictEqual(errors, [])
  assert.deepStrictEqual(foreign, [])
}
