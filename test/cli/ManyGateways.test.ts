/** @module-tag runs */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import { createHash } from "node:crypto"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort } from "./FreePort.ts"
import { assertToldInOneParagraph, endAll, inspo, inspoServer, sets, start, testTimeout } from "./Inspo.ts"
import { hasPython, presetOf, retrieverOf, tracesOf, urlIn, writePrograms } from "./TrainedAgent.ts"

/** Eight of the page's workers in one process, which begin again where the run, a gateway or the balancer is away. */
const workers = `
import sys, time
from concurrent.futures import ThreadPoolExecutor

source = open("worker.py").read()

def work(_):
    while True:
        try:
            exec(compile(source, "worker.py", "exec"), {})
        except OSError:
            time.sleep(0.1)

with ThreadPoolExecutor(8) as pool:
    list(pool.map(work, range(8)))
`

/** What each phase of a run did cost. */
const decodeSpent = Schema.decodeSync(
  Schema.fromJsonString(
    Schema.Struct({ phases: Schema.Record(Schema.String, Schema.Struct({ rollouts: Schema.Int, tokens: Schema.Int })) })
  )
)

interface Place {
  readonly port: number
  readonly child: ChildProcess
  calls: number
}

/** A balancer that brings the paths of an episode to one place, by their hash, and to the next one where that is gone. */
const balancing = async (places: ReadonlyArray<Place>, onCall: (place: Place) => void) => {
  const owners = new Map<string, Place>()
  /** The episodes whose gateway was killed while they were played. */
  const lost = new Set<string>()
  const forward = (from: IncomingMessage, to: ServerResponse, body: Buffer, tried: number) => {
    const name = from.url?.split("/")[2] ?? ""
    const first = createHash("sha256").update(name).digest().readUInt32BE()
    const place = places[(first + tried) % places.length]
    if (place === undefined || tried === places.length) return to.writeHead(503).end()
    if ((owners.get(name) ?? place) !== place) lost.add(name)
    const { headers, method, url: path } = from
    const passed = request({ port: place.port, host: "127.0.0.1", path, method, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.on("error", () => to.destroy()).pipe(to)
      if (path?.endsWith("completions") !== true || answer.statusCode !== 200) return
      owners.set(name, place)
      onCall(place)
    })
    passed.on("error", (error) => {
      if ("code" in error && error.code === "ECONNREFUSED") forward(from, to, body, tried + 1)
      else if (to.headersSent) to.destroy()
      else to.writeHead(502).end()
    })
    to.on("close", () => passed.destroy())
    return passed.end(body)
  }
  const server = createServer((from, to) => {
    const parts: Array<Buffer> = []
    from.on("data", (part: Buffer) => parts.push(part)).on("end", () => forward(from, to, Buffer.concat(parts), 0))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return { server, lost, url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}` }
}

describe.skipIf(!hasPython)(`three gateways of a run ${hasPython ? "" : "(skipped without python3)"}`, () => {
  let cwd = ""
  let retriever = ""
  let engine = ""
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "inspo-many-gateways-"))
    await writePrograms(cwd)
    await writeFile(join(cwd, "workers.py"), workers)
    retriever = await retrieverOf(cwd, "tiny")
    engine = urlIn((await inspoServer(["engine", "serve", "--port", "0"], { cwd })).ready)
    const one = await inspo(flags("one", `python3 search_agent.py ${retriever}`), { cwd })
    assert.strictEqual(one.code, 0, one.stderr)
  }, 2 * testTimeout)
  afterAll(async () => {
    endAll()
    await rm(cwd, { recursive: true, force: true })
  })

  const tiny = presetOf("tiny")
  const flags = (out: string, agent: string) => [
    "run",
    "--no-baseline",
    "--out",
    out,
    "--agent",
    agent,
    ...tiny,
    ...sets("schedule.steps=3", "evaluation.questions=20", "rollout.agent.timeout=30"),
    ...sets(`engine.url=${engine}`, "train.kl=advantages")
  ]
  const spent = async (out: string) => decodeSpent(await readFile(join(cwd, out, "spent.json"), "utf8")).phases

  /** A run whose workers ask three gateways; the one that has answered so many calls is killed. */
  const runOf = async (out: string, mostCalls = Infinity) => {
    const port = await freePort()
    const run = inspo(flags(out, `:${port}`), { cwd })
    const gateway = ["engine", "serve", "--gateway", `http://127.0.0.1:${port}`, "--port", "0"]
    const places = await Promise.all(
      Array.from({ length: 3 }, async (): Promise<Place> => {
        const { child, ready } = await inspoServer(gateway, { cwd })
        return { child, port: Number(new URL(urlIn(ready.split(" at ")[1] ?? "")).port), calls: 0 }
      })
    )
    let left = 1
    const { lost, server, url } = await balancing(places, (place) => {
      place.calls++
      if (place.calls < mostCalls || left === 0) return
      left--
      place.child.kill("SIGKILL")
    })
    const playing = spawn("python3", ["workers.py", retriever, url], { cwd, stdio: "ignore" })
    const finished = await run
    playing.kill("SIGKILL")
    server.close()
    server.closeAllConnections()
    for (const { child } of places) child.kill()
    assert.strictEqual(finished.code, 0, finished.stderr)
    return { places, lost: lost.size }
  }
  const assertSame = async (out: string) => {
    assert.deepStrictEqual(await tracesOf(cwd, out), await tracesOf(cwd, "one"))
    assert.deepStrictEqual(await spent(out), await spent("one"))
  }

  it("need an engine that they reach", { timeout: testTimeout }, async () => {
    const port = await freePort()
    const run = start(["run", "--no-baseline", "--agent", `:${port}`, "--out", "embedded", ...tiny], cwd)
    const gateway = await inspo(["engine", "serve", "--gateway", `http://127.0.0.1:${port}`, "--port", "0"], { cwd })
    run.kill("SIGKILL")
    assertToldInOneParagraph(gateway, 1, "set its engine.url")
    const misspelt = await inspo(["engine", "serve", "--gateway", "nowhere"], { cwd })
    assertToldInOneParagraph(misspelt, 2, "--gateway is not a URL")
  })

  it("give the rollouts of one, each for its own episodes", { timeout: 2 * testTimeout }, async () => {
    const { lost, places } = await runOf("three")
    for (const { calls } of places) assert.isAbove(calls, 10)
    assert.strictEqual(lost, 0)
    await assertSame("three")
  })

  it("also where one is killed: its episodes are played again", { timeout: 2 * testTimeout }, async () => {
    const { lost } = await runOf("killed", 15)
    assert.isAbove(lost, 0)
    await assertSame("killed")
  })
})

describe("gateways that other machines can reach", () => {
  let cwd = ""
  const env = { INSPO_GATEWAY_KEY: "key of the run", GK: "key of the gateway" }
  const tiny = presetOf("tiny")
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "inspo-keyed-gateways-"))
  })
  afterAll(async () => {
    endAll()
    await rm(cwd, { recursive: true, force: true })
  })

  const paths = ["episodes/setting", ...["next", "0/lend", "0/return", "0/reward"].map((path) => `episodes/${path}`)]
  const calls = ["chat/completions", "responses", "messages", "models"].map((path) => `episodes/0/v1/${path}`)
  /** The status of each route, with what a client sends as key. */
  const statuses = (url: string, headers: Readonly<Record<string, string>>) =>
    Promise.all(
      [...paths, ...calls].map(async (path) => {
        const isRead = ["setting", "models"].includes(path.split("/").at(-1) ?? "")
        const sent = isRead ? { headers } : { method: "POST", body: "{}", headers }
        return [path, (await fetch(`${url}/${path}`, sent)).status] as const
      })
    )
  const assertGuarded = async (url: string, key: string) => {
    assert.strictEqual((await fetch(`${url}/healthz`)).status, 200)
    for (const headers of [{}, { authorization: "Bearer another" }, { authorization: "Bearer " }, { "x-api-key": "" }])
      for (const [path, status] of await statuses(url, headers)) assert.strictEqual(status, 401, path)
    for (const name of ["authorization", "x-api-key"]) {
      const read = await fetch(`${url}/episodes/0/v1/models`, {
        headers: { [name]: name === "authorization" ? `Bearer ${key}` : key }
      })
      assert.strictEqual(read.status, 200)
    }
  }

  it("serve no one without a key", { timeout: testTimeout }, async () => {
    for (const unset of [{}, { INSPO_GATEWAY_KEY: "" }]) {
      const port = await freePort()
      const args = ["run", "--no-baseline", "--agent", `0.0.0.0:${port}`, "--out", "keyless", ...tiny]
      assertToldInOneParagraph(await inspo(args, { cwd, env: unset }), 2, "INSPO_GATEWAY_KEY")
    }
    const beside = ["engine", "serve", "--gateway", "http://127.0.0.1:1", "--host", "0.0.0.0", "--port", "0"]
    assertToldInOneParagraph(await inspo(beside, { cwd }), 2, "--api-key-env")
    const empty = await inspo([...beside, "--api-key-env", "GK"], { cwd, env: { GK: "" } })
    assertToldInOneParagraph(empty, 2, "GK, which is not set")
  })

  it("answer each request only with the key, and each other with theirs", { timeout: testTimeout }, async () => {
    const engine = urlIn((await inspoServer(["engine", "serve", "--port", "0"], { cwd })).ready)
    for (const host of ["0.0.0.0", ""]) {
      const port = await freePort()
      const run = start(
        ["run", "--no-baseline", "--agent", `${host}:${port}`, "--out", `keyed${host}`]
          .concat(tiny)
          .concat(sets(`engine.url=${engine}`, "train.kl=advantages")),
        cwd,
        env
      )
      const at = `http://127.0.0.1:${port}`
      const gateway = ["engine", "serve", "--gateway", at, "--host", "0.0.0.0", "--port", "0", "--api-key-env", "GK"]
      const { child, ready } = await inspoServer(gateway, { cwd, env })
      const beside = `http://127.0.0.1:${new URL(urlIn(ready.split(" at ")[1] ?? "")).port}`
      await assertGuarded(at, env.INSPO_GATEWAY_KEY)
      await assertGuarded(beside, env.GK)
      const next = await fetch(`${beside}/episodes/next`, {
        method: "POST",
        body: "{}",
        headers: { authorization: `Bearer ${env.GK}` }
      })
      assert.include(await next.text(), `"baseUrl":"${beside}/episodes/`)
      const mistaken = await inspo(gateway, { cwd, env: { ...env, INSPO_GATEWAY_KEY: "another" } })
      assertToldInOneParagraph(mistaken, 1, "INSPO_GATEWAY_KEY")
      run.kill("SIGKILL")
      child.kill("SIGKILL")
    }
  })
})
