import type { Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  type Dashboard,
  dashboard,
  landmark,
  median,
  open,
  slowdown,
  unavailable,
  until,
  fixture
} from "./support/Browser.ts"
import { syntheticRun, type SyntheticRun } from "./support/SyntheticRun.ts"

const steps = 300

/** The steps that are added while the transfer is counted, and those of a minute for which it is printed. */
const counted = 10
const stepsPerMinute = 30

const held = fixture()

/** Counts the bytes that a page receives from now on, headers included. */
const counter = async (page: Page) => {
  let bytes = 0
  const session = await page.context().newCDPSession(page)
  session.on("Network.responseReceived", ({ response }) => (bytes += response.encodedDataLength))
  session.on("Network.dataReceived", ({ encodedDataLength }) => (bytes += encodedDataLength))
  session.on("Network.eventSourceMessageReceived", ({ data }) => (bytes += data.length))
  await session.send("Network.enable")
  return () => bytes
}

const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`

describe.skipIf(unavailable !== null)(
  `transfer in Chromium${unavailable === null ? "" : ` (skipped: ${unavailable})`}`,
  { timeout: 170_000 },
  () => {
    let server: Dashboard
    let run: SyntheticRun
    beforeAll(async () => {
      run = await syntheticRun(`${held.directory}/run`, { steps, questionsPerStep: 12, groupSize: 4, tokens: 4 })
      server = await dashboard(held.directory)
    }, 120_000)
    afterAll(async () => {
      await server?.stop()
      await run?.close()
    })

    it("is at most 200 kB for the first view, and the same for a step of a short and of a long run", async () => {
      const perStep: Array<number> = []
      for (const from of [20, 270]) {
        await run.write(run.endOf(from))
        const { page } = await open(held.browser, "about:blank")
        const first = await counter(page)
        await page.goto(`${server.url}/#/run/overview`)
        await page.waitForSelector(landmark.overview)
        await page.waitForTimeout(1500)
        const load = first()
        const update = await counter(page)
        const delays: Array<number> = []
        for (let step = from + 1; step <= from + counted; step++) {
          const before = await page.textContent(".run-state")
          await run.write(run.endOf(step))
          const written = performance.now()
          await until(page, `document.querySelector(".run-state").textContent !== ${JSON.stringify(before)}`)
          delays.push(performance.now() - written)
          await page.waitForTimeout(1100)
        }
        const sent = update()
        perStep.push(sent / counted)
        console.log(
          `at step ${from}: first view ${kilobytes(load)}; each further step ${kilobytes(sent / counted)}, so ` +
            `${kilobytes((stepsPerMinute * sent) / counted)} in a minute of ${stepsPerMinute} steps; shown after ` +
            `${median(delays).toFixed(0)} ms`
        )
        assert.isAtMost(load, 200_000)
        assert.isAtMost(median(delays), 1000 * slowdown())
        await page.close()
      }
      const [short = 0, long = 0] = perStep
      assert.isAbove(short, 0)
      assert.isAtMost(long, 1.25 * short)
    })
  }
)
