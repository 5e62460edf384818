import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspo, inspoServer, start, testTimeout } from "./Inspo.ts"
import { tinyRun, writeTinyModel } from "./TinyModel.ts"

let cwd = ""

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-foreign-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
  const { code, stderr } = await inspo(["run", "--out", "run", "--no-baseline", ...tinyRun], { cwd })
  assert.strictEqual(code, 0, stderr)
}, testTimeout)

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

const kinds = {
  "a named pipe": async (file: string) => {
    execFileSync("mkfifo", [file])
  },
  "a device": (file: string) => symlink("/dev/zero", file),
  "a directory": (file: string) => mkdir(file)
}

/** A copy of the run in which one file is something else. */
const damaged = async (name: string, kind: keyof typeof kinds) => {
  const directory = await mkdtemp(join(cwd, "copy-"))
  await cp(join(cwd, "run"), directory, { recursive: true })
  await rm(join(directory, name), { recursive: true, force: true })
  await kinds[kind](join(directory, name))
  return directory
}

describe.skipIf(process.platform === "win32")(
  "a file of a run directory that is no regular file",
  { timeout: testTimeout, tags: "runs" },
  () => {
    it.each([
      ["show", "config.json", "a named pipe"],
      ["show", "journal.sqlite", "a named pipe"],
      ["show", "journal.sqlite-wal", "a named pipe"],
      ["show", "metrics.jsonl", "a device"],
      ["show", "outcome.json", "a directory"],
      ["replay", "journal.sqlite", "a device"],
      ["export", "config.json", "a device"],
      ["resume", "spent.json", "a named pipe"],
      ["resume", "timings.jsonl", "a named pipe"]
    ] as const)("%s names %s that is %s, and does not wait", async (command, name, kind) => {
      const directory = await damaged(name, kind)
      const out = command === "export" ? ["--out", join(directory, "out")] : []
      const { code, stderr } = await inspo([command, directory, ...out], { cwd })
      assert.notStrictEqual(code, 0)
      assert.match(stderr, /^inspo: [^\n]+\n$/u)
      assert.include(stderr, name)
      assert.include(stderr, `it is ${kind}; expected a regular file`)
    })

    it("a search is not read from a pipe", async () => {
      const directory = await mkdtemp(join(cwd, "search-"))
      await kinds["a named pipe"](join(directory, "events.jsonl"))
      const { code, stderr } = await inspo(["show", directory], { cwd })
      assert.strictEqual(code, 1)
      assert.include(stderr, "events.jsonl: it is a named pipe; expected a regular file")
    })

    it("the dashboard shows what is wrong beside the other runs, and one signal ends it", async () => {
      const place = await mkdtemp(join(cwd, "several-"))
      await cp(join(cwd, "run"), join(place, "good"), { recursive: true })
      for (const [name, kind] of [
        ["config.json", "a named pipe"],
        ["timings.jsonl", "a named pipe"]
      ] as const)
        await cp(await damaged(name, kind), join(place, name.replace(".", "-")), {
          recursive: true,
          filter: (source) => !source.endsWith(name)
        }).then(() => kinds[kind](join(place, name.replace(".", "-"), name)))
      const search = join(place, "search")
      await mkdir(search)
      await kinds["a named pipe"](join(search, "events.jsonl"))
      const { child, ready } = await inspoServer(["dashboard", place, "--port", "0"], { cwd })
      const url = /http:\S+/u.exec(ready)?.[0] ?? ""
      const problem = "it is a named pipe; expected a regular file"
      // A run is listed before it was read.
      const list = async (name: string) => {
        for (let look = 0; ; look++) {
          const text = await (await fetch(`${url}/api/${name}`)).text()
          if (look === 40 || text.includes(problem)) return text
          await setTimeout(500)
        }
      }
      const runs = await list("runs")
      assert.include(runs, '"good"')
      assert.include(runs, problem)
      assert.include(await list("searches"), problem)
      child.kill("SIGTERM")
      const [code] = await once(child, "close")
      assert.strictEqual(code, 130)
    })

    it("a second signal ends a process that waits for a file the user named", async () => {
      const pipe = join(cwd, "settings")
      await kinds["a named pipe"](pipe)
      const child = start(["run", pipe, "--out", "never"], cwd)
      const closed = once(child, "close")
      await setTimeout(4000)
      assert.isNull(child.exitCode)
      child.kill("SIGTERM")
      await setTimeout(1000)
      child.kill("SIGTERM")
      const ended = await Promise.race([closed, setTimeout(10_000, null)])
      assert.isNotNull(ended, "it still runs")
    })
  }
)
