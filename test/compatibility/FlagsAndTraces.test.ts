import { execFile } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import * as Served from "../standards/Served.ts"
import * as Foreign from "./support/Foreign.ts"

const script = fileURLToPath(new URL("./python/flags_and_traces.py", import.meta.url))

describe.skipIf(Foreign.problem !== null)("OpenFeature and OpenTelemetry in Python", () => {
  it("drive a population that learns, without a client of inspo", async () => {
    const served = await Served.start()
    try {
      await writeFile(join(served.folder, "configuration.py"), Served.configuration("python", served))
      const env = {
        ...process.env,
        PYTHONPATH: [served.folder, process.env["PYTHONPATH"] ?? ""].join(":"),
        OTEL_EXPORTER_OTLP_ENDPOINT: served.url,
        OTEL_EXPORTER_OTLP_COMPRESSION: "gzip"
      }
      await promisify(execFile)(Foreign.python, [script], { env })
      assert.deepStrictEqual(await Served.outcome(served), Served.learned)
    } finally {
      await served.end()
    }
    Foreign.record({
      software: "OpenFeature's Python SDK",
      package: "openfeature-provider-ofrep",
      what: "the program of docs/how-to/flags-and-traces.md: flags of `inspo serve`, their errors"
    })
    Foreign.record({
      software: "OpenTelemetry's Python SDK",
      package: "opentelemetry-exporter-otlp-proto-http",
      what: "the program of docs/how-to/flags-and-traces.md: evaluations in spans and log records are rewards"
    })
  }, 300_000)
})
