/** An in-memory implementation of the instruction server's contract that can inject faults. */
import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Schema } from "effect"
import { Errors, Lease, Limits, Population } from "@inspo/serve"

/** What happens to one request in place of its answer. `lost` is done, but its answer never comes. */
export const Fault = Schema.Union([
  Schema.Literals(["hang", "refuse", "lost", "half", "html", "empty", "garbage", "endless"]),
  Schema.Struct({
    status: Schema.Int,
    slow: Schema.optionalKey(Schema.Int),
    body: Schema.optionalKey(Schema.Json),
    headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
  }),
  Schema.Struct({ slow: Schema.Int.annotate({ description: "milliseconds" }) })
])
export type Fault = typeof Fault.Type

export const Setup = Schema.Struct({
  instruction: Schema.optionalKey(Schema.Json),
  incumbent: Schema.optionalKey(Schema.Json),
  bodyLimit: Schema.optionalKey(Schema.Int),
  probability: Schema.optionalKey(Schema.Finite),
  /** What the sticky key of each lease had first. */
  replaces: Schema.optionalKey(Schema.String),
  /** False where it refuses to close cohorts, as of an `online` population. */
  closes: Schema.optionalKey(Schema.Boolean),
  /** The further instruction of the first question of each whole cohort, instead of the last question, and of requests for several. */
  further: Schema.optionalKey(Schema.Json)
})

export interface Sent {
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly authorization: string | null
}

export interface Accepted {
  readonly key: string
  readonly sample: number
  readonly reward: Lease.Reward
}

const seed = { id: "i0", text: "Be brief." }
const decodeLeases = Schema.decodeUnknownSync(Schema.fromJsonString(Lease.LeaseRequests))
const decodeRewards = Schema.decodeUnknownSync(Schema.fromJsonString(Lease.Rewards))
const decodeRewind = Schema.decodeUnknownSync(Schema.fromJsonString(Population.Rewind))

export interface Answer {
  readonly status: number
  readonly body: unknown
}

export class ReferenceServer {
  readonly sent: Array<Sent> = []
  /** Of each lease and sample the first reward. */
  readonly accepted = new Map<string, Accepted>()
  faults: ReadonlyArray<Fault> = []
  protected readonly setup: typeof Setup.Type
  readonly #leases = new Map<string, { readonly key: string; readonly n: number; readonly cohort: string }>()
  readonly #rewinds = new Set<string>()
  readonly #closed = new Set<string>()
  #server: Server | undefined
  #port = 0

  constructor(setup: typeof Setup.Type = {}) {
    this.setup = setup
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response))
    server.listen(this.#port, "127.0.0.1")
    await once(server, "listening")
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** As when the process is killed: connections break, and what it knew is kept by its journal. */
  async stop(): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    this.#server = undefined
    server.closeAllConnections()
    server.close()
    await once(server, "close")
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [fault, ...others] = this.faults
    this.faults = others
    response.on("error", () => {})
    const chunks: Array<Buffer> = []
    try {
      for await (const chunk of request) chunks.push(Buffer.from(chunk))
    } catch {
      return
    }
    const text = Buffer.concat(chunks).toString("utf8")
    if (fault === "refuse") return void response.destroy()
    if (fault === "hang") return
    if (typeof fault === "object" && fault.slow !== undefined) await new Promise((done) => setTimeout(done, fault.slow))
    if (typeof fault === "object" && "status" in fault)
      return void response
        .writeHead(fault.status, fault.headers)
        .end(fault.body === undefined ? "<html>no</html>" : JSON.stringify(fault.body))
    if (fault === "html") return void response.writeHead(200).end("<html>Sign in</html>")
    if (fault === "empty") return void response.writeHead(200).end()
    if (fault === "garbage") return void response.writeHead(200).end('{"leases":[null],"results":"none","cohort":7}')
    if (fault === "endless") return endless(response)
    const { body, status } = await this.record(request, text)
    if (fault === "lost") return void response.destroy()
    const answer = Buffer.from(JSON.stringify(body))
    // Half of the answers come with their length, half in chunks.
    const length = this.sent.length % 2 === 0 ? {} : { "content-length": answer.length }
    if (fault === "half") {
      response.writeHead(status, { "content-length": answer.length })
      response.write(answer.subarray(0, answer.length / 2), () => response.destroy())
    } else {
      response.writeHead(status, { "content-type": "application/json", ...length })
      response.write(answer)
      response.end()
    }
  }

  /** What is recorded of a request, and its answer. */
  protected async record({ headers, method = "", url = "" }: IncomingMessage, text: string): Promise<Answer> {
    const authorization = headers.authorization ?? null
    this.sent.push({ method, path: url, body: text === "" ? null : JSON.parse(text), authorization })
    return this.done(method, url, text)
  }

  /** Does a request. */
  protected async done(_method: string, url: string, text: string): Promise<Answer> {
    const route = url.split("/").at(-1)
    const limit = this.setup.bodyLimit ?? Limits.bodyBytes
    if (text.length > limit)
      return refused(new Errors.TooLarge({ field: "body", size: text.length, limit, remedy: "send less at once" }))
    try {
      if (route === "leases") return { status: 200, body: this.#lease(decodeLeases(text)) }
      if (route === "rewards") {
        const rewards = decodeRewards(text)
        if (rewards.close !== undefined && this.setup.closes === false)
          return refused(new Errors.Conflict({ differences: [], remedy: "let the server close it" }))
        return { status: 200, body: this.#reward(rewards) }
      }
      if (route === "rewind") {
        const { requestId } = decodeRewind(text)
        const rewound = !this.#rewinds.has(requestId)
        return { status: 200, body: { branch: this.#rewinds.add(requestId).size, rewound } }
      }
    } catch (error) {
      return refused(
        new Errors.InvalidRequest({
          field: "body",
          value: text.slice(0, 100),
          expected: String(error),
          remedy: "fix it"
        })
      )
    }
    return { status: 200, body: { instruction: this.setup.incumbent ?? seed, reason: "seed", why: "" } }
  }

  #lease({ cohort = "c1", requests, fullBatch = false }: Lease.LeaseRequests) {
    const { further, incumbent = seed, instruction = seed, probability = 0.5, replaces } = this.setup
    const lease = ({ key, n = 1 }: Lease.LeaseRequest, used: unknown) => {
      const lease = `${cohort}:${key}`
      this.#leases.set(lease, { key, n, cohort })
      const replaced = replaces === undefined ? {} : { replaces }
      return { lease, key, n, instruction: used, ...replaced, probability, closesAt: null }
    }
    // A full batch asks its first question under another instruction, and then not the last.
    const asked = fullBatch && further !== undefined ? requests.slice(0, -1) : requests
    const leases = asked.flatMap((request, place) => [
      lease(request, instruction),
      ...(further !== undefined && (fullBatch ? place === 0 : (request.instructions ?? 1) > 1)
        ? [lease({ ...request, key: `${request.key}#${idOf(further)}` }, further)]
        : [])
    ])
    return { cohort, incumbent: idOf(incumbent), leases }
  }

  #reward({ close, rewards }: Lease.Rewards) {
    const results = rewards.map((reward): Lease.RewardResult => {
      const lease = this.#leases.get(reward.lease)
      if (lease === undefined) return { outcome: reward.lease.startsWith("left:") ? "superseded" : "unknown" }
      if (reward.value !== undefined && !(reward.value >= 0 && reward.value <= 1))
        return {
          outcome: "refused",
          refusal: { field: "value", value: String(reward.value), expected: "in [0, 1]", remedy: "scale rewards" }
        }
      const { sample = 0 } = reward
      const name = `${reward.lease}#${sample}`
      if (this.accepted.has(name)) return { outcome: "duplicate" }
      this.accepted.set(name, { key: lease.key, sample, reward })
      return { outcome: this.#closed.has(lease.cohort) ? "late" : "accepted" }
    })
    if (close === undefined) return { results }
    const leases = [...this.#leases.values()].filter(({ cohort }) => cohort === close.cohort).length
    this.#closed.add(close.cohort)
    return { results, cohort: { cohort: close.cohort, state: "closed", leases, reported: leases, closesAt: null } }
  }
}

const idOf = (instruction: unknown): string =>
  typeof instruction === "object" && instruction !== null && "id" in instruction ? String(instruction.id) : ""

const refused = (problem: Errors.TooLarge | Errors.InvalidRequest | Errors.Conflict) => ({
  status: problem.status,
  body: { ...problem }
})

/** An answer that never ends. */
const endless = (response: ServerResponse): void => {
  response.writeHead(200)
  const more = setInterval(() => response.write(" ".repeat(65_536)), 2)
  response.on("close", () => clearInterval(more))
}
