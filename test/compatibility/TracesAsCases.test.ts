import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { inspo } from "../cli/Inspo.ts"
import * as Foreign from "./support/Foreign.ts"

const script = fileURLToPath(new URL("./python/traced_agent.py", import.meta.url))
let cwd = ""
beforeAll(async () => void (cwd = await mkdtemp(join(tmpdir(), "inspo-traces-"))))
afterAll(() => rm(cwd, { recursive: true, force: true }))

describe.skipIf(Foreign.problem !== null)("traces of Pydantic AI", () => {
  // From version 6 on, results of tools have a role of their own.
  it.each(["5", "6"])("are cases of evolve, in version %s of their format", async (version) => {
    const { stdout } = await promisify(execFile)(Foreign.python, [script, version])
    await writeFile(join(cwd, `${version}.jsonl`), stdout)
    const done = await inspo(["data", "cases", `${version}.jsonl`, "--out", `cases${version}.jsonl`, "--json"], { cwd })
    assert.strictEqual(done.code, 0, done.stderr)
    const { dropped, prompts, sessions } = JSON.parse(done.stdout)
    assert.deepStrictEqual({ dropped, prompts, sessions }, { dropped: [], prompts: 1, sessions: 1 })
    const text = await readFile(join(cwd, `cases${version}.jsonl`), "utf8")
    const [first, second] = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.deepInclude(first, { input: "Hi.", output: "Hello!" })
    assert.deepInclude(second, {
      input: "How is the weather?",
      conversation: [
        { role: "user", content: "Hi." },
        { role: "assistant", content: "Hello!" }
      ],
      output: "It is sunny.",
      session: first.session
    })
    Foreign.record({
      software: "Pydantic AI",
      package: "pydantic-ai-slim",
      what: "`inspo data cases`: its traces, in both forms of results of tools"
    })
  })
})
