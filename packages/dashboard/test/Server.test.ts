import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { RunEvent as RunEventSchema, type RunEvent, RunEvents } from "@inspo/coevolution"
import { compare, evolve } from "@inspo/evolve"
import { Stored } from "@inspo/evolve/parts"
import { Guard } from "@inspo/http/server"
import { Journal, JournalError } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, Layer, ManagedRuntime, Redacted, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { CatalogError, RunCatalog, type RunSource } from "../src/RunCatalog.ts"
import { SearchCatalog } from "../src/SearchCatalog.ts"
import * as Server from "../src/Server.ts"
import * as EvidenceFigure from "../src/EvidenceFigure.ts"
import { courseOf } from "../src/view/SearchCourse.ts"
import { config, events } from "./support/Log.ts"

const encode = Schema.encodeSync(RunEventSchema)
const assets = mkdtempSync(join(tmpdir(), "inspo-assets-"))
const memory = ManagedRuntime.make(layerMemory)

/** Appends events to the journal that the run `good` is read from, with a record for each trajectory. */
const append = (some: ReadonlyArray<RunEvent>) =>
  memory.runPromise(
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* journal.append(
        some.map((event) => ({
          type: event._tag,
          step: "step" in event ? event.step : 0,
          payload: { ...encode(event), version: RunEvents.versions[event._tag] }
        }))
      )
    })
  )

const source = (journal: RunSource["journal"]): RunSource => ({
  config,
  journal,
  questions: Effect.succeed(new Map()),
  notes: Effect.succeed({ baseline: null, wallSeconds: null, degraded: [] }),
  written: Effect.succeed({ version: null, at: null, alive: null }),
  seconds: Effect.succeed(new Map())
})

const broken = new JournalError({ reason: "corrupt", file: "x", sequence: 3, detail: "the event is missing" })

const catalog = Layer.succeed(RunCatalog)(
  RunCatalog.of({
    find: Effect.succeed(
      ["good", "broken", "strange"].map((id) => ({ id, name: `${id} run`, directory: `/runs/${id}` }))
    ),
    open: ({ id }) =>
      id === "strange"
        ? Effect.fail(new CatalogError({ problem: "config.json is not the config of a run" }))
        : Effect.succeed(
            source(
              id === "broken" ? Layer.effect(Journal, Effect.fail(broken)) : Layer.effectContext(memory.contextEffect)
            )
          )
  })
)

const searchFile = join(assets, "search.jsonl")
const comparisonFile = join(assets, "comparison.jsonl")
const brokenFile = join(assets, "broken.jsonl")

/** The searches in two files, and a comparison. */
const searches = Layer.succeed(SearchCatalog, {
  find: Effect.sync(() =>
    [
      ["found", searchFile],
      ["broken-search", brokenFile],
      ["compared", comparisonFile]
    ].flatMap(([id = "", file = ""]) =>
      existsSync(file) ? [{ id, name: id, file, version: String(statSync(file).size), at: Date.now() }] : []
    )
  ),
  read: ({ file }, before) =>
    Effect.mapError(Stored.read(file, before), ({ message }) => new CatalogError({ problem: message }))
})

const serve = (options: Partial<Server.Options> = {}) =>
  HttpRouter.toWebHandler(
    Layer.merge(
      Server.layer({ assets, poll: "10 millis", search: "50 millis", ...options }),
      Guard.layer({ names: [] })
    ).pipe(Layer.provide(Layer.merge(catalog, searches)), Layer.provide(NodeHttpServer.layerHttpServices)),
    { disableLogger: true }
  )

const server = serve()

const ask = (path: string, headers: Readonly<Record<string, string>> = {}, of = server): Promise<Response> =>
  of.handler(new Request(`http://localhost:1234${path}`, { headers: { host: "localhost:1234", ...headers } }))

const json = async (path: string): Promise<any> => (await ask(path)).json()

beforeAll(() => writeFileSync(join(assets, "index.html"), "<!doctype html><p>page</p>"))

afterAll(async () => {
  await server.dispose()
  await memory.dispose()
  rmSync(assets, { recursive: true, force: true })
})

describe("the server of the dashboard", () => {
  it("follows a journal by sequence and publishes new events", async () => {
    await append(events.slice(0, 30))
    const { steps } = await json("/api/runs/good/overview")
    const changes = (await ask("/api/changes")).body?.getReader()
    await append(events.slice(30))
    const decoder = new TextDecoder()
    let received = ""
    while (!received.includes('"sequence":' + events.length)) received += decoder.decode((await changes?.read())?.value)
    await changes?.cancel()
    const after = await json("/api/runs/good/overview")
    assert.isAbove(after.steps.length, steps.length)
    assert.strictEqual(after.steps.length, config.schedule.steps)
    assert.strictEqual(after.run.status, "finished")
  })

  it("lists all runs, and shows the error of one without hiding the others", async () => {
    await ask("/api/runs/broken/overview")
    await ask("/api/runs/strange/overview")
    const runs = await json("/api/runs")
    assert.deepStrictEqual(
      runs.map(({ id, status }: { id: string; status: string }) => [id, status]),
      [
        ["good", "finished"],
        ["broken", "unreadable"],
        ["strange", "unreadable"]
      ]
    )
    const refused = await ask("/api/runs/broken/overview")
    assert.strictEqual(refused.status, 500)
    assert.include(await refused.text(), "the event is missing")
  })

  it("lists a comparison of prompts, and shows its evidence with the bound and the cases that changed", async () => {
    const { bound, candidates, calls } = await compare({
      control: "P",
      candidates: ["P. Q."],
      cases: Array.from({ length: 60 }, (_, id) => ({ id })),
      agent: (prompt, { id }) => Number(prompt.includes("Q") || id % 3 === 0),
      score: (output) => output,
      file: comparisonFile
    })
    const list = async () => (await json("/api/searches")).find((one: { readonly id: string }) => one.id === "compared")
    while ((await list())?.status !== "finished") await new Promise((resolve) => setTimeout(resolve, 20))
    assert.deepInclude(await list(), { kind: "comparison", status: "finished" })
    assert.deepInclude((await list()).summary, { verdict: "better", calls, tried: 2 })
    const shown = await json("/api/comparisons/compared")
    const [found] = shown.candidates
    assert.deepInclude(found, { verdict: "better", improved: candidates[0]?.improved.length ?? 0, worsened: 0 })
    assert.isAtLeast(found.course.at(-1).evidence.better, bound)
    assert.strictEqual((await ask("/api/searches/compared")).status, 404)
    const [curve, , , enough] = EvidenceFigure.ofComparison(shown).curves
    assert.isAtLeast(curve?.values.at(-1) ?? 0, enough?.values.at(-1) ?? Infinity)
  })

  it("follows a search by its file, publishes that it changed, and shows the error of another one", async () => {
    const whole = join(assets, "whole.jsonl")
    const result = await evolve({
      prompt: "P",
      cases: Array.from({ length: 20 }, (_, id) => ({ id })),
      agent: (prompt, { id }) => Number(prompt.includes("Q") || id % 3 === 0),
      score: (output) => output,
      proposer: ["Q.", "R."],
      budget: { calls: 60 },
      file: whole
    })
    const text = readFileSync(whole, "utf8")
    const half = text.indexOf("\n", text.length / 2) + 1
    const view = async (id: string) =>
      (await json("/api/searches")).find((one: { readonly id: string }) => one.id === id)
    const changes = (await ask("/api/changes")).body?.getReader()
    const decoder = new TextDecoder()
    const changed = async () => {
      let received = ""
      while (!received.includes('"Searches"')) received += decoder.decode((await changes?.read())?.value)
    }
    writeFileSync(searchFile, text.slice(0, half))
    await changed()
    assert.deepInclude(await view("found"), { status: "running", problem: null })
    assert.isNull((await json("/api/searches/found")).verdict)
    appendFileSync(searchFile, text.slice(half))
    writeFileSync(brokenFile, "{}\n")
    await changed()
    while ((await view("found")).status !== "finished" || (await view("broken-search")) === undefined) await changed()
    await changes?.cancel()
    assert.strictEqual((await view("found")).summary.verdict, result.verdict)
    const detail = await json("/api/searches/found")
    assert.strictEqual(detail.calls, result.calls)
    assert.strictEqual(detail.failingCount, result.failing.length)
    assert.deepInclude(await view("broken-search"), { status: "unreadable", summary: null })
    const refused = await ask("/api/searches/broken-search")
    assert.strictEqual(refused.status, 500)
    assert.include(await refused.text(), "is not the file of a search")

    const { lives, steps } = courseOf(detail)
    for (const [place] of steps.entries())
      assert.approximately(
        lives.reduce((sum, { from, probabilities }) => sum + (probabilities[place - from] ?? 0), 0),
        1,
        1e-9
      )
  })

  it("responds with 404 to unknown paths and ids", async () => {
    for (const path of [
      "/api/runs/nobody/overview",
      "/api/runs/good/trajectory?id=train/9/9/9",
      "/nothing.js",
      `/${"x".repeat(300)}`
    ])
      assert.strictEqual((await ask(path)).status, 404, path)
    assert.strictEqual((await ask("/api/runs/good/trajectories?limit=100000")).status, 400)
  })

  it("compresses the page and the views if the browser accepts it, but not events and short responses", async () => {
    writeFileSync(join(assets, "main.js"), `const text = "${"page ".repeat(5000)}"`)
    const views = `/api/compare?runs=${Array.from({ length: 20 }, () => "good").join()}`
    for (const path of ["/main.js", views]) {
      const plain = Buffer.from(await (await ask(path)).arrayBuffer())
      for (const [encoding, expand] of [
        ["br", brotliDecompressSync],
        ["gzip", gunzipSync]
      ] as const) {
        const answer = await ask(path, { "accept-encoding": encoding })
        assert.strictEqual(answer.headers.get("content-encoding"), encoding, path)
        assert.include(answer.headers.get("vary")?.toLowerCase(), "accept-encoding")
        const sent = Buffer.from(await answer.arrayBuffer())
        assert.isBelow(sent.length, plain.length / 4)
        assert.isTrue(expand(sent).equals(plain), path)
        const etag = answer.headers.get("etag")
        if (etag !== null)
          assert.strictEqual((await ask(path, { "accept-encoding": encoding, "if-none-match": etag })).status, 304)
      }
      assert.isNull((await ask(path, { "accept-encoding": "gzip;q=0" })).headers.get("content-encoding"))
    }
    for (const path of ["/api/changes", "/index.html"]) {
      const answer = await ask(path, { "accept-encoding": "br, gzip" })
      assert.isNull(answer.headers.get("content-encoding"), path)
      await answer.body?.cancel()
    }
  })

  it("lets browsers keep assets, and revalidate the rest", async () => {
    const plain = Buffer.from(`const asset = "${"asset ".repeat(1000)}"`)
    mkdirSync(join(assets, "assets"), { recursive: true })
    writeFileSync(join(assets, "assets", "kept-1.js"), plain)
    for (const [accepted, encoding, expand] of [
      ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
      ["gzip;q=0, br;q=0", null, (sent: Buffer) => sent]
    ] as const) {
      const answer = await ask("/assets/kept-1.js", { "accept-encoding": accepted })
      assert.include(answer.headers.get("cache-control"), "immutable")
      assert.include(answer.headers.get("content-type"), "javascript")
      assert.include(answer.headers.get("vary")?.toLowerCase(), "accept-encoding")
      assert.strictEqual(answer.headers.get("content-encoding"), encoding)
      assert.isTrue(expand(Buffer.from(await answer.arrayBuffer())).equals(plain), accepted)
    }
    for (const path of ["/index.html", "/api/runs", "/api/runs/good/overview"]) {
      const answer = await ask(path)
      assert.strictEqual(answer.headers.get("cache-control"), "no-cache", path)
      const etag = answer.headers.get("etag") ?? ""
      assert.strictEqual((await ask(path, { "if-none-match": etag })).status, 304, path)
    }
    const missing = await ask("/assets/gone-1.js", { "accept-encoding": "br" })
    assert.deepStrictEqual([missing.status, missing.headers.get("cache-control")], [404, null])
  })

  it("compares each of 20 selected runs", async () => {
    const { runs } = await json(`/api/compare?runs=${Array.from({ length: 20 }, () => "good").join()}`)
    assert.lengthOf(runs, 20)
  })

  it("does not reveal the directories of runs", async () => {
    for (const path of ["/api/runs", "/api/runs/good/overview", "/api/compare?runs=good"])
      assert.notInclude(await (await ask(path)).text(), "/runs/good", path)
  })

  it("has every trajectory on exactly one page", async () => {
    const ids: Array<string> = []
    const first = await json("/api/runs/good/trajectories?limit=7")
    for (let offset = 0; offset < first.total; offset += 7) {
      const { rows } = await json(`/api/runs/good/trajectories?limit=7&offset=${offset}`)
      ids.push(...rows.map(({ id, step }: { id: string; step: number }) => `${step} ${id}`))
    }
    const whole = await json(`/api/runs/good/trajectories?limit=200`)
    assert.strictEqual(ids.length, first.all)
    assert.deepStrictEqual(
      ids.slice(0, 200),
      whole.rows.map(({ id, step }: { id: string; step: number }) => `${step} ${id}`)
    )
  })

  it("forbids loading from other servers in every response", async () => {
    for (const path of ["/", "/api/runs", "/api/runs/nobody/overview", "/nothing"])
      assert.match(
        (await ask(path)).headers.get("content-security-policy") ?? "",
        /default-src 'none'.*frame-ancestors 'none'/u
      )
  })

  it("requires the password if one is set", async () => {
    const guarded = serve({ password: Redacted.make("open sesame") })
    const bring = (password: string) => ({
      authorization: `Basic ${Buffer.from(`anyone:${password}`).toString("base64")}`
    })
    assert.strictEqual((await ask("/api/runs", bring("open sesame"), guarded)).status, 200)
    for (const headers of [bring("open"), bring(""), { authorization: "Bearer open sesame" }, {}]) {
      const refused = await ask("/api/runs", headers, guarded)
      assert.strictEqual(refused.status, 401)
      assert.include(refused.headers.get("www-authenticate") ?? "", "Basic")
    }
    await guarded.dispose()
  })
})
