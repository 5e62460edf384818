import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, request as rawRequest } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Limits } from "@inspo/serve"
import { Schema } from "effect"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspoServer } from "../cli/Inspo.ts"

const stallSeconds = 5
const sockets: Array<Socket> = []
let directory = ""
let url = ""
let port = 0

/** A model that says nothing, or stops within its answer, where it is asked to. */
const model = createServer((request, response) => {
  let body = ""
  request.on("data", (part: Buffer) => (body += part.toString()))
  request.on("end", () => {
    if (body.includes("say nothing")) return
    response.write('{"said":')
    if (!body.includes("stop within")) response.end('"yes"}')
  })
})

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-proxy-load-"))
  model.listen(0, "127.0.0.1")
  await once(model, "listening")
  const upstream = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`
  const keys = ["--api-key-env", "INSPO_T_ADMIN", "--lease-key-env", "INSPO_T_LEASE"]
  Object.assign(process.env, { INSPO_T_ADMIN: "admin-key", INSPO_T_LEASE: "lease-key" })
  const limits = ["--upstream", upstream, "--upstream-timeout", String(stallSeconds)]
  const { ready } = await inspoServer(["serve", "--port", "0", "--json", ...limits, ...keys], { cwd: directory })
  url = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ url: Schema.String })))(ready).url
  port = Number(new URL(url).port)
}, 60_000)

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

afterAll(async () => {
  endAll()
  model.closeAllConnections()
  model.close()
  await rm(directory, { recursive: true, force: true })
})

const headers = { "content-type": "application/json", "inspo-key": "admin-key", authorization: "Bearer admin-key" }

/** A request of this machine under one of its addresses; 0 where the connection broke. */
const ask = (path: string, body: string, options: { readonly from?: string; readonly key?: string } = {}) =>
  new Promise<{ readonly status: number; readonly text: string; readonly isFullBatch: boolean }>((resolve) => {
    const { from = "127.0.0.1", key } = options
    const own = key === undefined ? headers : { ...headers, "inspo-key": key, "transfer-encoding": "chunked" }
    const asked = rawRequest(`${url}${path}`, { method: "POST", headers: own, localAddress: from }, (answer) => {
      let text = ""
      const done = () => resolve({ status: answer.statusCode ?? 0, text, isFullBatch: answer.complete })
      answer.on("data", (part: Buffer) => (text += part.toString()))
      answer.on("close", done)
      answer.on("error", () => {})
    })
    asked.on("error", () => resolve({ status: 0, text: "", isFullBatch: false }))
    asked.on("socket", (socket) => sockets.push(socket))
    asked.end(body)
  })

const chat = "/v1/chat/completions"
const leases = "/v1/populations/default/leases"
const large = JSON.stringify({ messages: "x".repeat(1_100_000) })
const silent = `{"messages":"say nothing"}`

describe("a proxy under load", { timeout: 60_000, tags: "runs" }, () => {
  it("ends a request whose upstream says nothing, or stops in its answer", async () => {
    const began = performance.now()
    const [none, half] = await Promise.all([ask(chat, silent), ask(chat, '{"messages":"stop within"}')])
    assert.strictEqual(none.status, 504)
    assert.include(none.text, `did not answer within ${stallSeconds}s`)
    assert.deepStrictEqual([half.status, half.text, half.isFullBatch], [200, '{"said":', false])
    assert.isAtLeast(performance.now() - began, 1000 * stallSeconds - 100)
  })

  it("is not stopped by more uploads that stall than it takes requests, nor is the server", async () => {
    const count = Limits.requestsWaiting + 100
    for (let at = 0; at < count; at++) {
      const socket = connect(port, "127.0.0.1").on("error", () => {})
      sockets.push(socket)
      const path = at % 2 === 0 ? chat : leases
      const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ninspo-key: admin-key\r\nauthorization: Bearer admin-key\r\n`
      socket.write(`${head}content-type: application/json\r\ncontent-length: 200\r\n\r\n{`)
      if (at >= Limits.requestsProxied) continue
      const more = connect(port, "127.0.0.1").on("error", () => {})
      sockets.push(more)
      more.write(`${head}content-type: application/json\r\ncontent-length: 200\r\n\r\n{`)
    }
    await sleep(2000)
    assert.strictEqual((await ask(leases, '{"requests":[{"key":"honest"}]}')).status, 200)
    assert.strictEqual((await ask(chat, '{"messages":"hello"}')).status, 200)
  })

  it("passes large requests on while others of the same client wait for a silent upstream", async () => {
    const waiting = Array.from({ length: 40 }, () => ask(chat, large.replace("x", "say nothing ")))
    const first = Promise.race(waiting).then(({ status }) => status)
    const honest = ask(chat, large).then(({ status }) => status)
    assert.strictEqual(await Promise.race([honest, first]), 200, "waits for those that the model does not answer")
    for (const { status } of await Promise.all(waiting)) assert.strictEqual(status, 504)
  })

  it("lets one client take half of the places, and says so to it alone", async () => {
    const half = Limits.requestsProxied / 2
    const waiting = Array.from({ length: half + 20 }, () => ask(chat, silent))
    const other = Promise.race([sleep(1000), ...waiting]).then(() => ask(chat, silent, { from: "127.0.0.2" }))
    const statuses = Map.groupBy(await Promise.all(waiting), ({ status }) => status)
    assert.deepStrictEqual([statuses.get(504)?.length, statuses.get(429)?.length], [half, 20])
    assert.strictEqual((await other).status, 504)
    assert.strictEqual((await ask(chat, '{"messages":"hello"}')).status, 200)
  })

  it("limits the rate of the lease key, including bodies of unknown length, and not that of the admin key", async () => {
    const count = (4 * Limits.bytesPerSecond) / Limits.bodyBytes
    const statusesOf = async (key: string) => {
      const answers = await Promise.all(Array.from({ length: count }, () => ask(chat, '{"messages":"hello"}', { key })))
      return new Set(answers.map(({ status }) => status))
    }
    assert.deepStrictEqual(await statusesOf("admin-key"), new Set([200]))
    assert.deepStrictEqual((await statusesOf("lease-key")).has(429), true)
  })
})
