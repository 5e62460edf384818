import { createServer, type Server } from "node:net"
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertToldInOneParagraph, endAll, inspo, inspoServer, testTimeout, sets } from "./Inspo.ts"
import { tinyRun, writeTinyModel } from "./TinyModel.ts"

let cwd = ""
let server: Server
let connections = 0
let port = 0

const env = () => ({ XDG_STATE_HOME: join(cwd, "state"), FOREIGN_SECRET: "hush-hush" })
const JsonObject = Schema.fromJsonString(Schema.Record(Schema.String, Schema.MutableJson))

/** A copy of the run with other settings in its config.json, as somebody else could send it. */
const foreign = async (name: string, settings: Readonly<Record<string, object>>) => {
  await cp(join(cwd, "own"), join(cwd, name), { recursive: true })
  const file = join(cwd, name, "config.json")
  const config = Schema.decodeSync(JsonObject)(await readFile(file, "utf8"))
  const changed = Object.fromEntries(
    Object.entries(config).map(([key, value]) => [
      key,
      key in settings && typeof value === "object" && value !== null ? { ...value, ...settings[key] } : value
    ])
  )
  await writeFile(file, JSON.stringify(changed))
  return name
}

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-trust-"))
  await mkdir(join(cwd, "state"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
  server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  port = typeof address === "object" && address !== null ? address.port : 0
  const made = await inspo(["run", "--no-baseline", "--quiet", "--out", "own", ...tinyRun], { cwd, env: env() })
  assert.strictEqual(made.code, 0, made.stderr)
}, testTimeout)

afterAll(async () => {
  endAll()
  server.close()
  await rm(cwd, { recursive: true, force: true })
})

describe("a run directory that somebody else made", { timeout: testTimeout, tags: "runs" }, () => {
  it("makes no reading command connect or read a key, and says what it wanted and which flag allows it", async () => {
    const dir = await foreign("journal", {
      journal: { url: `postgres://u@127.0.0.1:${port}/db` },
      keys: { journal: "FOREIGN_SECRET" }
    })
    for (const args of [
      ["show", dir],
      ["show", dir, "own"],
      ["show", dir, "--lineage"],
      ["show", dir, "--report", "html"],
      ["replay", dir],
      ["export", dir, "--out", "exported"],
      ["resume", dir],
      ["eval", dir, "--questions", "1"]
    ]) {
      const done = await inspo(args, { cwd, env: env() })
      assertToldInOneParagraph(done, 2, `connect to postgres://127.0.0.1:${port}/db`)
      assert.include(done.stderr, "the variable FOREIGN_SECRET")
      assert.include(done.stderr, "--trust")
      assert.strictEqual(connections, 0, args.join(" "))
    }
    const trusted = await inspo(["show", dir, "--trust"], { cwd, env: env() })
    assert.strictEqual(trusted.code, 1, trusted.stderr)
    assert.isAbove(connections, 0)
    connections = 0
  })

  it("makes the dashboard connect to nothing", async () => {
    const dir = await foreign("shown", { journal: { url: `postgres://u@127.0.0.1:${port}/db` } })
    const { child, ready } = await inspoServer(["dashboard", dir, "--port", "0", "--json"], { cwd })
    const { url } = Schema.decodeSync(Schema.fromJsonString(Schema.Struct({ url: Schema.String })))(ready)
    assert.include(await (await fetch(new URL("/api/runs", url))).text(), "--trust")
    assert.strictEqual(connections, 0)
    child.kill("SIGKILL")
  })

  it("starts no program and asks no server in eval and resume; a remembered answer holds until the config changes", async () => {
    const command = [process.execPath, "-e", "require('fs').writeFileSync('ran', '')"]
    const dir = await foreign("program", { rollout: { mcp: [{ command }] } })
    for (const args of [
      ["eval", dir, "--questions", "1"],
      ["resume", dir, "--no-baseline"]
    ]) {
      const refused = await inspo(args, { cwd, env: env() })
      assertToldInOneParagraph(refused, 2, "run the program")
      assert.isFalse(existsSync(join(cwd, "ran")))
    }
    await inspo(["eval", dir, "--questions", "1", "--trust"], { cwd, env: env() })
    assert.isTrue(existsSync(join(cwd, "ran")))
    await rm(join(cwd, "ran"))
    await inspo(["eval", dir, "--questions", "1"], { cwd, env: env() })
    assert.isTrue(existsSync(join(cwd, "ran")))
    await rm(join(cwd, "ran"))

    const config = join(cwd, dir, "config.json")
    await writeFile(config, (await readFile(config, "utf8")).replace("'ran'", "'ran2'"))
    assertToldInOneParagraph(await inspo(["eval", dir, "--questions", "1"], { cwd, env: env() }), 2, "ran2")
    assert.isFalse(existsSync(join(cwd, "ran2")))
  })

  it("does not send a key by a setting of the command line, nor write through links", async () => {
    const keyed = await foreign("keyed", { keys: { engine: "FOREIGN_SECRET" } })
    const sent = await inspo(["eval", keyed, ...sets(`engine.url=http://127.0.0.1:${port}`)], { cwd, env: env() })
    assertToldInOneParagraph(sent, 2, "FOREIGN_SECRET")
    assert.strictEqual(connections, 0)

    const linked = await foreign("linked", {})
    await writeFile(join(cwd, "mine"), "mine")
    await rm(join(cwd, linked, "timings.jsonl"))
    await symlink(join(cwd, "mine"), join(cwd, linked, "timings.jsonl"))
    assertToldInOneParagraph(await inspo(["resume", linked], { cwd, env: env() }), 2, "write through the link")
    await rm(join(cwd, linked, "timings.jsonl"))
    await symlink(join(cwd, "mine"), join(cwd, linked, "report.html.tmp"))
    const reported = await inspo(["show", linked, "--report", "html"], { cwd, env: env() })
    assert.strictEqual(reported.code, 0, reported.stderr)
    assert.strictEqual(await readFile(join(cwd, "mine"), "utf8"), "mine")
  })

  it("asks nothing of who made the run, whatever it names", async () => {
    const command = [
      process.execPath,
      "-e",
      "require('fs').readFileSync(0,'utf8').trim().split('\\n').forEach(()=>console.log(1))"
    ]
    const flags = [...tinyRun, ...sets("reward.kind=command", `reward.kind.command=${JSON.stringify(command)}`)]
    const made = await inspo(["run", "--no-baseline", "--quiet", "--out", "mine-own", ...flags], { cwd, env: env() })
    assert.strictEqual(made.code, 0, made.stderr)
    await rm(join(cwd, "mine-own", "report.md"))
    const resumed = await inspo(["resume", "mine-own", "--no-baseline", "--quiet"], { cwd, env: env() })
    assert.strictEqual(resumed.code, 0, resumed.stderr)
  })
})
