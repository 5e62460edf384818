import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, it } from "vitest"
import * as Foreign from "./support/Foreign.ts"

describe.skipIf(Foreign.problem !== null)("mypy", () => {
  it("finds nothing in the Python client and its integrations, in strict mode", async () => {
    const cwd = fileURLToPath(new URL("../../clients/python", import.meta.url))
    await promisify(execFile)(Foreign.python, ["-m", "mypy"], { cwd })
    Foreign.record({ software: "mypy", package: "mypy", what: "the Python client and its integrations, strict" })
  }, 300_000)
})
