import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { Schema } from "effect"
import { afterEach, describe, it } from "vitest"
import { endAll, inspoServer } from "../cli/Inspo.ts"
import * as Foreign from "./support/Foreign.ts"

const script = fileURLToPath(new URL("./python/with_openai.py", import.meta.url))

const decodeReady = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ url: Schema.String })))

describe.skipIf(Foreign.problem !== null)("OpenAI's client", () => {
  afterEach(endAll)

  it("gets what it expects of completions", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "inspo-openai-"))
    try {
      process.env["INSPO_COMPATIBILITY_KEY"] = "key-of-the-test"
      const { ready } = await inspoServer(
        [
          "engine",
          "serve",
          "--protocol",
          "completions",
          "--port",
          "0",
          "--api-key-env",
          "INSPO_COMPATIBILITY_KEY",
          "--json"
        ],
        { cwd }
      )
      const { url } = decodeReady(ready)
      await promisify(execFile)(Foreign.python, [script, url, "key-of-the-test"])
    } finally {
      endAll()
      await rm(cwd, { recursive: true, force: true })
    }
    Foreign.record({
      software: "OpenAI's Python client",
      package: "openai",
      registry: "PyPI",
      what: "completions of `inspo engine serve --protocol completions`: texts, tokens, `n`, `echo`, `logprobs`, streams, models, refusals"
    })
  }, 120_000)
})
