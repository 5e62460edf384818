/** @module-tag runs */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Wheel from "../../tools/release/Wheel.ts"
import { run } from "../../tools/release/run.ts"
import { blocksOf } from "./support/Documents.ts"

const asked = process.env["INSPO_PYTHON"] !== undefined
const root = fileURLToPath(new URL("../..", import.meta.url))
const programs = [...blocksOf("docs/how-to/from-python.md"), ...blocksOf("docs/how-to/train-your-agent.md")].flatMap(
  ({ code, language }) => (language === "python" ? [code] : [])
)

describe.skipIf(!asked)(
  `the programs of docs/how-to/from-python.md, from the wheel${asked ? "" : " (skipped: installs from PyPI; set INSPO_PYTHON=1)"}`,
  { timeout: 300_000 },
  () => {
    let cwd = ""
    const servers: Array<ChildProcess> = []
    const env = () => ({
      ...process.env,
      // No Node but that of the wheel.
      PATH: [join(cwd, "venv/bin"), "/usr/bin", "/bin"].join(delimiter),
      INSPO_COMMAND: ""
    })
    const shell = async (command: string): Promise<string> => {
      const child = spawn(command, { cwd, env: env(), shell: "/bin/bash" })
      let output = ""
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => (output += chunk.toString()))
      const [code] = await once(child, "close")
      assert.strictEqual(code, 0, output)
      return output
    }
    /** The address that a server says when it is ready. */
    const serve = async (command: string): Promise<string> => {
      const child = spawn(command, { cwd, env: env(), shell: "/bin/bash", detached: true })
      servers.push(child)
      for await (const chunk of child.stdout) {
        const [url] = /http:\/\/[\d.:]+/u.exec(String(chunk)) ?? []
        if (url !== undefined) return url
      }
      throw new Error(`${command} ended`)
    }

    beforeAll(async () => {
      cwd = await mkdtemp(join(tmpdir(), "inspo-from-python-"))
      for (const code of programs) await writeFile(join(cwd, /^# (\w+\.py)\n/u.exec(code)?.[1] ?? "unnamed.py"), code)
      const wheel = await Wheel.make(root, cwd)
      await run("python3", ["-m", "venv", "venv"], cwd)
      await shell(`pip install --quiet '${wheel}[cli]'`)
    }, 300_000)
    afterAll(async () => {
      for (const { pid } of servers) if (pid !== undefined) process.kill(-pid, "SIGKILL")
      await rm(cwd, { recursive: true, force: true })
    })

    it("improve and compare prompts", async () => {
      assert.match(await shell("python improve.py"), /^better .*Answer in one word\.\n\['better'\]\n$/u)
      assert.match(await shell("python -m inspo_client --version"), /^inspo v/u)
    })

    it("train an agent with its prompt", async () => {
      await shell("python -m inspo_client.embedded && inspo data world --out world")
      const retriever = await serve("inspo retriever serve world/corpus.jsonl --port 0")
      const agent = `python3 search_agent.py ${retriever}`
      await shell(`inspo run --agent "${agent}" --preset tiny --set schedule.steps=2 --no-baseline --quiet --out run`)
      const report = JSON.parse(await shell(`inspo eval run --agent "${agent}" --questions 20 --json 2>/dev/null`))
      assert.deepStrictEqual([report.agent, report.n], ["outside", 20])
    })

    it("lease prompts in a loop", async () => {
      const url = await serve("inspo serve --port 0")
      const output = await shell(`python loop.py ${url}`)
      assert.match(output, /^[12] prompts\nSearch first, then answer the question\.\n$/u)
    })
  }
)
