/** @module-tag deep */
import { execFile } from "node:child_process"
import { mkdir, writeFile } from "node:fs/promises"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import * as Served from "./Served.ts"

const run = promisify(execFile)
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

let served: Served.Served

beforeEach(async () => {
  served = await Served.start()
})

afterEach(() => served.end())

describe("an application with OpenFeature and an evaluator with OpenTelemetry", { timeout: 240_000 }, () => {
  it.each([
    ["protobuf", { OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" }],
    ["JSON, packed", { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", OTEL_EXPORTER_OTLP_COMPRESSION: "gzip" }]
  ])("drive a population that learns, without a client of inspo: %s", async (_, protocol) => {
    const setup = at("../node_modules/.cache/standards/setup.mjs")
    await mkdir(at("../node_modules/.cache/standards"), { recursive: true })
    await writeFile(setup, Served.configuration("typescript", served))
    const env = {
      ...process.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: served.url,
      OTEL_METRICS_EXPORTER: "none",
      OTEL_BSP_SCHEDULE_DELAY: "200",
      ...protocol
    }
    await run(process.execPath, ["--import", pathToFileURL(setup).href, at("programs/conversations.ts")], { env })
    assert.deepStrictEqual(await Served.outcome(served), Served.learned)
  })
})
