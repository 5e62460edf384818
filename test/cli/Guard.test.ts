/** @module-tag deep */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspoServer, testTimeout } from "./Inspo.ts"
import { writeTinyModel } from "./TinyModel.ts"

let cwd = ""

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-guard-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
  await writeFile(join(cwd, "corpus.jsonl"), `${JSON.stringify({ id: "a", contents: '"Title"\ntext' })}\n`)
}, testTimeout)

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

/** The status of a request with these headers; `fetch` would not send all of them. */
const ask = (url: string, method: string, headers: Record<string, string>, body = ""): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asking = request(url, { method, headers }, (response) => {
      response.resume()
      response.on("end", () => resolve(response.statusCode))
    })
    asking.on("error", reject)
    asking.end(body)
  })

const engine = ["engine", "serve", "--port", "0", "--model", "model", "--json"]

describe("every server", { timeout: testTimeout }, () => {
  it.each([
    ["engine", engine, "/api/v1/healthz", "/api/v1/asample"],
    ["retriever", ["retriever", "serve", "corpus.jsonl", "--port", "0", "--json", "--quiet"], null, "/retrieve"],
    ["dashboard", ["dashboard", ".", "--port", "0", "--json"], "/api/runs", "/api/runs"]
  ])("%s answers to its own names and pages alone, and to no endless path or body", async (_, args, open, path) => {
    const { ready } = await inspoServer(args, { cwd })
    const { origin: address } = new URL(JSON.parse(ready).url)
    if (open !== null) assert.strictEqual(await ask(address + open, "GET", {}), 200)
    assert.strictEqual(await ask(`${address}/healthz`, "GET", {}), 200)
    assert.strictEqual(await ask(address + path, "POST", { host: "evil.example" }, "{}"), 403)
    const foreign = { origin: "http://evil.example", "content-type": "text/plain" }
    assert.strictEqual(await ask(address + path, "POST", foreign, "{}"), 403)
    assert.strictEqual(await ask(`${address}/${"x".repeat(5000)}`, "GET", {}), 414)
    const large = { "content-length": String(600 * 1024 * 1024), expect: "100-continue" }
    assert.strictEqual(await ask(address + path, "POST", large), 413)
  })

  it.each([
    ["engine", engine, [], ["/api/v1/healthz", "/api/v1/get_server_capabilities"], "x-api-key"],
    ["retriever", ["retriever", "serve", "corpus.jsonl", "--port", "0", "--json", "--quiet"], [], [], "bearer"],
    ["dashboard", ["dashboard", ".", "--port", "0", "--json"], [], ["/", "/api/runs"], "basic"],
    [
      "instruction server",
      ["serve", "--port", "0", "--json"],
      ["/", "/readyz", "/openapi.json"],
      ["/metrics", "/v1/populations"],
      "bearer"
    ]
  ])("%s answers without its key only what security.md lists", async (_, args, open, closed, way) => {
    Object.assign(process.env, { INSPO_T_KEY: "the-key" })
    const { ready } = await inspoServer([...args, "--api-key-env", "INSPO_T_KEY"], { cwd })
    const { origin } = new URL(JSON.parse(ready).url)
    const headers: Record<string, string> =
      way === "x-api-key"
        ? { "x-api-key": "the-key" }
        : { authorization: way === "bearer" ? "Bearer the-key" : `Basic ${btoa("me:the-key")}` }
    for (const path of ["/healthz", ...open]) assert.strictEqual(await ask(origin + path, "GET", {}), 200, path)
    for (const path of closed) {
      assert.strictEqual(await ask(origin + path, "GET", {}), 401, path)
      assert.strictEqual(await ask(origin + path, "GET", headers), 200, path)
    }
  })
})
