import { once } from "node:events"
import { createServer, request as rawRequest } from "node:http"
import type { AddressInfo } from "node:net"
import { text as textOf } from "node:stream/consumers"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Limits, Population } from "@inspo/serve"
import { Effect, Option, Schema } from "effect"
import { afterAll, afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import * as Upstream from "../../apps/cli/src/serve/Upstream.ts"
import * as PostgresServer from "../../packages/journal/test/support/PostgresServer.ts"
import { freePort } from "../cli/FreePort.ts"
import { endAll, inspoServer } from "../cli/Inspo.ts"
import { ModelServer } from "./ModelServer.ts"

const variants = ["Ask first.", "Be brief.", "Be kind."]
const known = ["Be helpful.", ...variants]
const model = new ModelServer()
let directory = ""
let modelUrl = ""
/** One that everybody on this machine may ask, and one with keys of its own and of the model. */
let open = ""
let guarded = ""
/** One whose upstream says what it was asked, with the status that its path ends with. */
let echoing = ""

const echo = createServer(async (request, response) => {
  const { headers, method, url = "" } = request
  const body = await textOf(request)
  const status = Number(/status\/(\d+)$/u.exec(url)?.[1] ?? 200)
  if (url.endsWith("/page")) {
    const hostile = { "content-security-policy": "script-src *", "set-cookie": "a=b", "clear-site-data": '"*"' }
    response.writeHead(200, { "content-type": "text/html", "x-content-type-options": "none", ...hostile })
    response.end("<script>fetch('/v1/populations/support', { method: 'DELETE' })</script>")
    return
  }
  response.writeHead(status, { "content-type": "application/json", "x-upstream": "yes" })
  response.end(status === 204 ? undefined : JSON.stringify({ method, url, headers, body }))
})

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-agents-proxy-"))
  const populations = {
    support: { seed: "Be helpful.", variants },
    parts: { seed: { system: "Be helpful.", tone: "Kindly." } }
  }
  await writeFile(join(directory, "serve.json"), JSON.stringify({ populations }))
  modelUrl = await model.start()
  const start = async (out: string, upstream: string, ...flags: ReadonlyArray<string>) => {
    const args = ["serve", "serve.json", "--port", "0", "--json", "--out", out, "--upstream", upstream, ...flags]
    return decodeReady((await inspoServer(args, { cwd: directory })).ready).url
  }
  Object.assign(process.env, { INSPO_T_ADMIN: "admin-key", INSPO_T_LEASE: "lease-key", INSPO_T_MODEL: "model-key" })
  const keys = ["--api-key-env", "INSPO_T_ADMIN", "--lease-key-env", "INSPO_T_LEASE"]
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve))
  const echoUrl = `http://127.0.0.1:${(echo.address() as AddressInfo).port}/base/v1/`
  ;[open, guarded, echoing] = await Promise.all([
    start("open", modelUrl),
    start("guarded", modelUrl, ...keys, "--upstream-key-env", "INSPO_T_MODEL"),
    start("echoing", echoUrl, ...keys, "--upstream-key-env", "INSPO_T_MODEL")
  ])
}, 60_000)

afterAll(async () => {
  endAll()
  echo.close()
  await model.stop()
  await rm(directory, { recursive: true, force: true })
})

afterEach(() => {
  model.fail = null
  model.asked.length = 0
})

/** Of a busy machine. */
const testTimeout = { timeout: 10_000 }

const decodeReady = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ url: Schema.String })))
const decodeEcho = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      method: Schema.String,
      url: Schema.String,
      headers: Schema.Record(Schema.String, Schema.String),
      body: Schema.String
    })
  )
)
const decodeTraces = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      resourceSpans: Schema.Array(
        Schema.Struct({
          scopeSpans: Schema.Array(
            Schema.Struct({
              spans: Schema.Array(
                Schema.Struct({
                  traceId: Schema.String,
                  parentSpanId: Schema.optionalKey(Schema.String),
                  attributes: Schema.Array(
                    Schema.Struct({
                      key: Schema.String,
                      value: Schema.Struct({ stringValue: Schema.optionalKey(Schema.String) })
                    })
                  )
                })
              )
            })
          )
        })
      )
    })
  )
)
const decodePopulation = Schema.decodeUnknownSync(Schema.fromJsonString(Population.Population))

const population = async (name = "support") =>
  decodePopulation(await (await fetch(`${open}/v1/populations/${name}`)).text())

const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}, init: RequestInit = {}) =>
  fetch(url, {
    ...init,
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body)
  })

const chat = (headers?: Readonly<Record<string, string>>, rest: object = {}, system = "{{inspo:support}}") =>
  post(
    `${open}/v1/chat/completions`,
    {
      model: "m",
      messages: [
        { role: "system", content: system },
        { role: "user", content: "Hi" }
      ],
      ...rest
    },
    headers
  )

/** The error in an answer, in the form of OpenAI. */
const errorOf = async (response: Response) =>
  Schema.decodeUnknownSync(
    Schema.fromJsonString(Schema.Struct({ error: Schema.Struct({ code: Schema.String, message: Schema.String }) }))
  )(await response.text()).error

describe("inspo serve --upstream", { timeout: 60_000, tags: "runs" }, () => {
  it("fills the system prompt of a conversation with its one instruction, whose reward counts", async () => {
    const seen = new Set<string>()
    for (let index = 0; index < 12; index++) {
      const turns = [
        await chat({ "inspo-conversation": `talk-${index}` }),
        await chat({}, { user: `talk-${index}` }),
        await chat({ "inspo-conversation": `talk-${index}` }, { stream: true })
      ]
      const leases = turns.map(({ headers }) => headers.get("inspo-lease"))
      assert.strictEqual(new Set(leases).size, 1)
      for (const turn of turns) await turn.text()
      const systems = model.takeSystems()
      assert.strictEqual(new Set(systems).size, 1)
      assert.include(known, systems[0])
      seen.add(systems[0] ?? "")
      const told = await post(`${open}/v1/populations/support/rewards`, { rewards: [{ lease: leases[0], value: 1 }] })
      assert.include(await told.text(), '"accepted"')
    }
    assert.isAbove(seen.size, 1)
  })

  it("fills what the operator wrote, wherever it stands, and nothing that a user wrote", async () => {
    const marker = "{{inspo:support|x}}"
    const parts = [{ type: "text", text: `${marker} At once.` }]
    const messages = [
      { role: "developer", content: parts },
      { role: "user", content: marker },
      { role: "assistant", content: marker },
      { role: "tool", tool_call_id: "1", content: marker }
    ]
    await (await post(`${open}/v1/chat/completions?version=1`, { messages })).text()
    const [first] = model.asked
    assert.strictEqual(first?.path, "/v1/chat/completions?version=1")
    assert.match(first?.system ?? "", /^(Be|Ask) \w+\. At once\.$/u)
    assert.deepEqual(JSON.parse(first?.body ?? "").messages.slice(1), messages.slice(1))
    const input = [
      { role: "system", content: [{ type: "input_text", text: "Now." }] },
      { role: "user", content: marker }
    ]
    const response = await post(`${open}/v1/responses`, { instructions: marker, input })
    assert.match(await response.text(), /"output_text","text":"(Be|Ask) \w+\.\\nNow\."/u)
    assert.isNotNull(response.headers.get("inspo-lease"))
  })

  it("refuses a name of a conversation that cannot be a key, and takes an empty one for none", async () => {
    for (const name of ["x".repeat(201), "talk#i12", "\ud800"]) {
      const refused = [await chat({}, { user: name })]
      if (name.isWellFormed()) refused.push(await chat({ "inspo-conversation": name }))
      for (const [place, response] of refused.entries()) {
        assert.strictEqual(response.status, 400)
        const { code, message } = await errorOf(response)
        assert.strictEqual(code, "conversation")
        assert.match(message, /^inspo: (?:user|inspo-conversation) is ".*expected at most 200 of well-formed Unicode/u)
        assert.strictEqual(message.includes("inspo-conversation is"), place === 1)
      }
    }
    assert.lengthOf(model.asked, 0)
    const leases = new Set<string | null>()
    for (const headers of [{ "inspo-conversation": "" }, { "inspo-conversation": "" }])
      leases.add((await chat(headers, { user: "" })).headers.get("inspo-lease"))
    assert.strictEqual(leases.size, 2)
    const [named, same] = [
      await chat({ "inspo-conversation": "" }, { user: "me#i" }),
      await chat({ "inspo-conversation": "me#i" })
    ]
    assert.isNotNull(named.headers.get("inspo-lease"))
    assert.strictEqual(named.headers.get("inspo-lease"), same.headers.get("inspo-lease"))
  })

  it("logs why a request got no lease in the form of all its lines, without what the caller sent", async () => {
    const args = ["serve", "serve.json", "--port", "0", "--json", "--out", "logging", "--upstream", modelUrl]
    const { child, ready, stderr } = await inspoServer(args, { cwd: directory })
    for (let time = 0; time < 2; time++)
      await post(`${decodeReady(ready).url}/v1/chat/completions`, {
        messages: [{ role: "system", content: "{{inspo:nobody|Do your best.}}" }],
        user: "a private name"
      })
    child.kill("SIGINT")
    await once(child, "close")
    const lines = stderr().trim().split("\n")
    for (const line of lines) assert.isObject(JSON.parse(line), line)
    const unleased = lines.filter((line) => line.includes("unleased"))
    assert.lengthOf(unleased, 1)
    assert.include(unleased[0], "a forwarded request is unleased: status 404")
    assert.notInclude(stderr(), "private")
  })

  it("puts each of several texts in its place, by one lease", async () => {
    const response = await chat({}, {}, "{{inspo:parts/system}} {{inspo:parts/tone}}")
    await response.text()
    assert.deepEqual(model.takeSystems(), ["Be helpful. Kindly."])
    assert.strictEqual((await population("parts")).leases.given, 1)
    const none = await chat({}, {}, "{{inspo:parts/other}}")
    assert.deepInclude(await errorOf(none), { code: "marker" })
    assert.lengthOf(model.asked, 0)
  })

  it("passes on a request without a marker to the byte, and what the upstream says of it", async () => {
    const body = '{"messages": [ {"role":"user","content":"{{inspo:support}} \\u00e9"} ], "seed": 12345678901234567890}'
    const response = await post(`${open}/v1/chat/completions`, body, { "x-own": "yes", cookie: "a=b" })
    assert.strictEqual(response.headers.get("x-upstream"), "yes")
    assert.isFalse([...response.headers.keys()].some((name) => name.startsWith("inspo-")))
    const [asked] = model.asked
    assert.strictEqual(asked?.body, body)
    assert.strictEqual(asked?.headers["x-own"], "yes")
    assert.isUndefined(asked?.headers["cookie"])
    assert.isUndefined(asked?.headers["traceparent"])
  })

  it("streams piece by piece, to the byte, and ends the upstream's work when the caller goes away", async () => {
    const same = await chat({ "inspo-conversation": "stream" }, { stream: true })
    assert.strictEqual(same.headers.get("content-type"), "text/event-stream")
    const streamed = await same.text()
    const messages = [{ role: "system", content: model.asked[0]?.system }]
    const direct = await (await post(`${modelUrl}/chat/completions`, { messages, stream: true })).text()
    const unnamed = (events: string) => events.replaceAll(/chat-\d+/gu, "chat")
    assert.strictEqual(unnamed(streamed), unnamed(direct))

    model.asked.length = 0
    const aborting = new AbortController()
    const response = await post(
      `${open}/v1/chat/completions`,
      { messages: [{ role: "system", content: "{{inspo:support}}" }], stream: true, user: "leaves" },
      {},
      { signal: aborting.signal }
    )
    assert.isNotNull(response.headers.get("inspo-lease"))
    const first = await response.body?.getReader().read()
    assert.include(new TextDecoder().decode(first?.value), "data: ")
    assert.isFalse(model.asked[0]?.aborted)
    aborting.abort()
    await vi.waitFor(() => assert.isTrue(model.asked[0]?.aborted), testTimeout)

    const broken = await chat({}, { stream: true, user: "leaves" })
    const rest = broken.text().then(
      () => "it ended",
      () => "it broke"
    )
    model.drop()
    assert.strictEqual(await rest, "it broke")
  })

  it("passes on what the upstream refuses, and gives back the lease that nobody can know", async () => {
    const before = await population()
    model.fail = 529
    const response = await chat()
    assert.strictEqual(response.status, 529)
    assert.strictEqual(response.headers.get("retry-after"), "0")
    assert.strictEqual(response.headers.get("inspo-lease"), null)
    assert.deepInclude(await errorOf(response), { code: "busy" })
    await vi.waitFor(async () => {
      const { given, open } = (await population()).leases
      assert.deepEqual({ given, open }, { given: before.leases.given + 1, open: before.leases.open })
    }, testTimeout)
    const own = await chat({ "inspo-conversation": "failing" })
    assert.isNotNull(own.headers.get("inspo-lease"))
    assert.strictEqual((await population()).leases.open, before.leases.open + 1)
  })

  it("goes on without a lease, and says so", async () => {
    const lost = await chat({}, {}, "{{inspo:nobody|Do your best.}}")
    assert.strictEqual(lost.headers.get("inspo-unleased"), "default")
    assert.isNull(lost.headers.get("inspo-lease"))
    await lost.text()
    assert.deepEqual(model.takeSystems(), ["Do your best."])
    const nothing = await chat({}, {}, "{{inspo:nobody}}")
    assert.strictEqual(nothing.status, 503)
    assert.include((await errorOf(nothing)).message, "{{inspo:nobody|DEFAULT}}")
    for (const broken of ["{{inspo:}}", "{{inspo:a b}}", "{{inspo:support", "{{inspo:support}} {{inspo:parts}}"]) {
      const response = await chat({}, {}, broken)
      assert.strictEqual(response.status, 400, broken)
      assert.deepInclude(await errorOf(response), { code: "marker" })
    }
    assert.lengthOf(model.asked, 0)
  })

  it("passes on all that needs no instruction as it is, with the credentials of other requests", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
    const headers = { authorization: "Bearer lease-key", "x-own": "yes", cookie: "a=b", traceparent }
    const ask = async (method: string, path: string, body?: string) => {
      const response = await fetch(`${echoing}${path}`, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { "content-type": "text/x-own" }) },
        ...(body === undefined ? {} : { body })
      })
      assert.strictEqual(response.status, 200, path)
      assert.strictEqual(response.headers.get("x-upstream"), "yes")
      return method === "HEAD" ? null : decodeEcho(await response.text())
    }
    assert.deepInclude(await ask("GET", "/v1/models?limit=2&after=%41"), {
      method: "GET",
      url: "/base/v1/models?limit=2&after=%41",
      body: ""
    })
    const body = '{"input": "{{inspo:support}}", "dimensions": 9007199254740993}'
    const embedded = await ask("POST", "/v1/embeddings", body)
    assert.deepInclude(embedded, { method: "POST", url: "/base/v1/embeddings", body })
    assert.deepInclude(embedded?.headers, {
      authorization: "Bearer model-key",
      "x-own": "yes",
      "content-type": "text/x-own",
      traceparent
    })
    assert.notProperty(embedded?.headers, "cookie")
    assert.deepInclude(await ask("DELETE", "/v1/files/a%2Fb"), { method: "DELETE", url: "/base/v1/files/a%2Fb" })
    assert.isNull(await ask("HEAD", "/v1/models"))
    assert.strictEqual((await fetch(`${echoing}/v1/status/204`, { headers })).status, 204)
    assert.strictEqual((await fetch(`${echoing}/v1/models`)).status, 401)
    // Telemetry is for this server.
    for (const path of ["/v1/traces", "/v1/logs", "/v1/metrics"])
      assert.strictEqual(await (await post(`${echoing}${path}`, {}, headers)).text(), "{}")
    await (await post(`${open}/v1/embeddings`, {}, { authorization: "Bearer own" })).text()
    assert.strictEqual(model.asked.at(-1)?.headers.authorization, "Bearer own")
  })

  it("names the lease of a request in the span that continues the caller's trace, which the upstream gets as it is", async () => {
    const bodies: Array<string> = []
    const collector = createServer(async (request, response) => {
      const body = await textOf(request)
      if (request.url === "/v1/traces") bodies.push(body)
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
    await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve))
    const { child, ready } = await inspoServer(
      ["serve", "serve.json", "--port", "0", "--json", "--out", "traced", "--upstream", modelUrl],
      {
        cwd: directory,
        env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}` }
      }
    )
    const { url } = decodeReady(ready)
    const [trace, parent] = ["0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"]
    const traceparent = `00-${trace}-${parent}-01`
    const messages = [{ role: "system", content: "{{inspo:support}}" }]
    const answer = await post(`${url}/v1/chat/completions`, { model: "m", messages }, { traceparent })
    await answer.text()
    assert.strictEqual(model.asked.at(-1)?.headers.traceparent, traceparent)
    const leased = await post(`${url}/v1/populations/support/leases`, { requests: [{ key: "k" }] }, { traceparent })
    const [, lease = ""] = /"lease":"([^"]+)"/u.exec(await leased.text()) ?? []
    child.kill("SIGINT")
    await once(child, "close")
    collector.close()
    const spans = bodies
      .flatMap((body) => decodeTraces(body).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans))
      .filter((span) => span.traceId === trace && span.parentSpanId === parent)
    const named = spans.flatMap(({ attributes }) =>
      attributes.flatMap(({ key, value }) => (key === "inspo.lease" ? [value.stringValue] : []))
    )
    assert.sameMembers(named, [answer.headers.get("inspo-lease"), lease])
  })

  it("passes on nothing that could be outside of the upstream's base, or is its own", async () => {
    const { hostname, port } = new URL(echoing)
    const ask = (method: string, path: string) =>
      new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) =>
        rawRequest({ hostname, port, method, path, headers: { authorization: "Bearer admin-key" } }, async (response) =>
          resolve({ status: response.statusCode ?? 0, body: await textOf(response) })
        )
          .on("error", reject)
          .end()
      )
    const outside = [
      "/v1/..",
      "/v1/../admin",
      "/v1/a/../../../admin",
      "/v1/%2e%2e/admin",
      "/v1/.%2E/admin",
      "/v1/..%2f..%2fadmin"
    ]
    for (const path of [...outside, "/v1/a%5c..%5cadmin", "/v1/%252e%252e/admin", "/v1/..;/admin", "/v1/./models"]) {
      const { body, status } = await ask("GET", path)
      assert.deepEqual([path, status], [path, 400])
      assert.include(body, "expected no segments")
    }
    for (const path of [
      "/v1/populations/support/nothing",
      "/v1//populations/support/nothing",
      "/v1/%70opulations/a/nothing"
    ])
      assert.deepEqual(await ask("GET", path), { status: 404, body: "" }, path)
    assert.strictEqual((await ask("GET", "/v2/models")).status, 404)
  })

  it("shows a browser no answer as a page of its own, and takes no request of other pages", async () => {
    const ask = (headers: Readonly<Record<string, string>>) =>
      new Promise<{ readonly status: number; readonly headers: Record<string, unknown> }>((resolve, reject) => {
        rawRequest(`${echoing}/v1/page`, { headers: { "inspo-key": "lease-key", ...headers } }, (response) => {
          response.resume()
          resolve({ status: response.statusCode ?? 0, headers: response.headers })
        })
          .on("error", reject)
          .end()
      })
    const { headers, status } = await ask({ "sec-fetch-site": "none" })
    assert.strictEqual(status, 200)
    assert.strictEqual(headers["content-type"], "text/html")
    assert.strictEqual(headers["content-security-policy"], "sandbox")
    assert.strictEqual(headers["x-content-type-options"], "nosniff")
    for (const name of ["set-cookie", "clear-site-data"]) assert.isUndefined(headers[name])
    const link = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }
    for (const site of ["cross-site", "same-site"])
      for (const rest of [{}, link])
        assert.strictEqual((await ask({ "sec-fetch-site": site, ...rest })).status, 403, site)
  })

  it("says which status of an upstream it cannot pass on", async () => {
    for (const status of [101, 999, 600]) {
      model.fail = status
      const response = await chat({}, { user: "status" })
      assert.strictEqual(response.status, 502)
      assert.deepInclude(await errorOf(response), { code: "upstream" })
    }
    model.fail = 999
    assert.include(
      (await errorOf(await chat({}, {}, "none"))).message,
      "answered with the status 999; expected 200 to 599"
    )
  })

  it("fills what is marked, and passes on all else of the request to the byte", async () => {
    const body = (system: string) =>
      `{"seed": 9007199254740993, "temperature": 0.10, "messages" : [{"role":"system","content":"${system} \\u00e9"}]}`
    await (await post(`${open}/v1/chat/completions`, body("{{inspo:parts/tone}}"))).text()
    assert.strictEqual(model.asked[0]?.body, body("Kindly."))
  })

  it("asks for its own keys, and never passes them on", async () => {
    const ask = async (headers: Readonly<Record<string, string>>) => {
      const body = { messages: [{ role: "system", content: "{{inspo:support}}" }] }
      const response = await post(`${guarded}/v1/chat/completions`, body, headers)
      await response.text()
      return response
    }
    for (const headers of [{}, { authorization: "Bearer model-key" }, { "inspo-key": "no" }])
      assert.strictEqual((await ask(headers)).status, 401)
    assert.lengthOf(model.asked, 0)
    const admitted = [
      { authorization: "Bearer lease-key" },
      { authorization: "Bearer admin-key" },
      { "inspo-key": "lease-key", authorization: "Bearer another" }
    ]
    for (const headers of admitted) assert.isNotNull((await ask(headers)).headers.get("inspo-lease"))
    assert.lengthOf(model.asked, 3)
    for (const { headers } of model.asked) {
      assert.strictEqual(headers.authorization, "Bearer model-key")
      assert.notMatch(JSON.stringify(headers), /lease-key|admin-key|another/u)
    }
    model.asked.length = 0
    await (await chat({ authorization: "Bearer own" })).text()
    assert.strictEqual(model.asked[0]?.headers.authorization, "Bearer own")
  })

  it("asks nobody but the upstream, and takes no more than it holds", async () => {
    const { hostname, port } = new URL(open)
    const elsewhere = await freePort()
    const status = await new Promise<number | undefined>((resolve, reject) =>
      rawRequest(
        { hostname, port, method: "POST", path: `http://127.0.0.1:${elsewhere}/v1/chat/completions` },
        (response) => resolve(response.resume().statusCode)
      )
        .on("error", reject)
        .end("{}")
    )
    assert.include([200, 404], status)
    for (const { path } of model.asked) assert.match(path, /^\/v1\/chat\/completions$/u)
    const long = "x".repeat(Limits.bodyBytes)
    assert.strictEqual((await chat({}, { long })).status, 413)
    const stream = new Blob([long, long]).stream()
    const untold = await fetch(`${open}/v1/chat/completions`, { method: "POST", body: stream, duplex: "half" })
    assert.strictEqual(untold.status, 413)
  })

  it.skipIf(PostgresServer.unavailable !== null)(
    "passes requests on through a standby, and goes on when the active server is gone",
    async () => {
      const database = await PostgresServer.start()
      try {
        const start = async () => {
          const args = [
            "serve",
            "serve.json",
            "--port",
            "0",
            "--json",
            "--database",
            database.url,
            "--upstream",
            modelUrl
          ]
          const { child, ready } = await inspoServer(args, { cwd: directory })
          return { child, url: decodeReady(ready).url }
        }
        const [active, standby] = [await start(), await start()]
        const ask = async () => {
          const response = await post(`${standby.url}/v1/chat/completions`, {
            messages: [{ role: "system", content: "{{inspo:support|Be helpful.}}" }]
          })
          assert.strictEqual(response.status, 200, await response.text())
          return response.headers.get("inspo-lease")
        }
        await vi.waitFor(async () => assert.isNotNull(await ask()), testTimeout)
        active.child.kill("SIGKILL")
        assert.isNull(await ask())
        await vi.waitFor(async () => assert.isNotNull(await ask()), { timeout: 30_000 })
        for (const system of model.takeSystems()) assert.include(known, system)
        standby.child.kill("SIGKILL")
      } finally {
        await database.stop()
      }
    }
  )

  it("takes no upstream that could hold a key, and no key without one", async () => {
    const refused = (upstream: string | null, upstreamKeyEnv: string | null) =>
      Effect.runPromise(
        Upstream.make(
          {
            upstream: Option.fromNullOr(upstream),
            upstreamKeyEnv: Option.fromNullOr(upstreamKeyEnv),
            upstreamTimeout: 600
          },
          {}
        ).pipe(
          Effect.flip,
          Effect.map(({ message }) => message)
        )
      )
    for (const url of ["ftp://a/v1", "https://key@a/v1", "https://a/v1?key=1", "a"]) {
      const message = await refused(url, null)
      assert.include(message, "--upstream-key-env")
      if (url.includes("key")) assert.notInclude(message, url)
    }
    assert.include(await refused(null, "INSPO_T_MODEL"), "--upstream.")
    assert.include(await refused(modelUrl, "INSPO_T_NOT_SET"), "INSPO_T_NOT_SET")
  })
})
