import { readFileSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Assets } from "@inspo/dashboard"
import { World } from "@inspo/datasets"
import { Question } from "@inspo/domain"
import { Effect } from "effect"
import * as fc from "fast-check"
import { syntheticRun } from "../../browser/support/SyntheticRun.ts"
import { inspoServer } from "../../cli/Inspo.ts"
import { writeTinyModel } from "../../cli/TinyModel.ts"
import { type Ordinary, plain } from "./Hostile.ts"
import { encode, type Message } from "./Message.ts"
import * as Protocols from "./Protocols.ts"
import { type Answer, exchange, longestWait } from "./Wire.ts"

/** How one of the servers is started, and what is asked of it. */
export interface Kind {
  readonly name: string
  readonly args: ReadonlyArray<string>
  readonly protocol: fc.Arbitrary<Ordinary>
  /** The largest request of an ordinary client, where that takes memory to answer. */
  readonly large?: Ordinary
}

const engine = ["engine", "serve", "--port", "0", "--model", "model", "--json"]

/** Every server of the command line. */
export const kinds: ReadonlyArray<Kind> = [
  {
    name: "engine",
    args: [...engine, "--checkpoints", "tinker"],
    protocol: Protocols.tinker,
    large: Protocols.large.tinker
  },
  {
    name: "retriever",
    args: ["retriever", "serve", "corpus.jsonl", "--port", "0", "--json", "--quiet"],
    protocol: Protocols.retriever
  },
  { name: "dashboard", args: ["dashboard", "runs", "--port", "0", "--json"], protocol: Protocols.dashboard }
]

/** Writes what the servers serve into a folder. */
export const prepare = async (cwd: string): Promise<void> => {
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
  // Building the page would leave its server with far more memory than serving it takes.
  await Effect.runPromise(Effect.provide(Assets.ensure(Effect.void), NodeServices.layer))
  const world = await Effect.runPromise(World.make(1, World.defaultSizes))
  const row = (passage: Question.Passage) => JSON.stringify({ id: passage.id, contents: Question.contentsOf(passage) })
  await writeFile(
    join(cwd, "corpus.jsonl"),
    World.passages(world)
      .map((passage) => `${row(passage)}\n`)
      .join("")
  )
  for (const name of ["first", "second"]) {
    const directory = join(cwd, "runs", name)
    await mkdir(directory, { recursive: true })
    const run = await syntheticRun(directory, { steps: 10, questionsPerStep: 4, groupSize: 2, tokens: 30 })
    await run.write(run.events)
    await run.close()
  }
}

/** Kilobytes of a process in memory: now, and at most so far. */
export interface Memory {
  readonly now: number
  readonly peak: number
}

/** A server that runs. */
export interface Server {
  readonly kind: Kind
  /** Starts the process anew where it has ended. */
  readonly ensure: () => Promise<void>
  readonly ask: (message: Message) => Promise<Answer>
  /** Writes bytes that need be no request, and looks for a moment whether they are answered. Gives what is wrong with that. */
  readonly write: (bytes: string) => Promise<string | null>
  /** Why an answer is none that a server may give; null for one that is. */
  readonly fault: (message: Message, answer: Answer) => string | null
  /** Why the process is not well; null when it answers. */
  readonly illness: () => Promise<string | null>
  readonly memory: () => Memory
  readonly stop: () => Promise<void>
}

/** Starts a server in a folder that was prepared. */
export const start = async (kind: Kind, cwd: string): Promise<Server> => {
  let running = await launch(kind, cwd)
  const known = new Map<string, Array<string>>()

  const learn = ({ body }: Answer) => {
    for (const [, key = "", value = ""] of body.matchAll(/"(\w+)":"([^"\\]{1,300})"/gu)) {
      const name = names.get(key)
      if (name === undefined || (name === "checkpoint" && !value.startsWith("tinker://"))) continue
      const list = known.get(name) ?? []
      if (list.includes(value)) continue
      known.set(name, [value, ...list].slice(0, 8))
    }
  }
  const resolve = (text: string) =>
    text.replaceAll(/@(session|model|sampler|future|checkpoint)\/(\d)/gu, (reference, name: string, index: string) => {
      const list = known.get(name) ?? []
      return list[Number(index) % Math.max(1, list.length)] ?? reference
    })

  const ask = async (message: Message) => {
    const wait = isIncomplete(message) ? moment : longestWait
    const answer = await exchange(running.port, encode(message, resolve), message.delivery, wait)
    learn(answer)
    return answer
  }

  return {
    kind,
    ask,
    ensure: async () => {
      if (running.child.exitCode === null && running.child.signalCode === null) return
      known.clear()
      running = await launch(kind, cwd)
    },
    write: async (bytes) => {
      const { body, status } = await exchange(running.port, Buffer.from(bytes, "latin1"), "whole", moment)
      return status !== null && status >= 500 ? `status ${status}: ${body.slice(0, 500)}` : null
    },
    fault: (message, answer) => {
      const fault = faultOf(message, answer, cwd)
      return fault?.includes("its log") ? `${fault}\n${running.stderr().slice(-1000)}` : fault
    },
    illness: async () => {
      const { exitCode, signalCode } = running.child
      if (exitCode !== null || signalCode !== null)
        return `the process ended (${exitCode ?? signalCode}): ${running.stderr().slice(-1000)}`
      const health = plain({ method: "GET", path: "/healthz", body: null })
      const { milliseconds, status } = await ask(health)
      return status === 200 && milliseconds <= testTimeout
        ? null
        : `/healthz answered ${status ?? "nothing"} after ${Math.round(milliseconds)} ms`
    },
    memory: () => {
      const status = readFileSync(`/proc/${running.child.pid}/status`, "utf8")
      const field = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`, "u").exec(status)?.[1] ?? 0)
      return { now: field("VmRSS"), peak: field("VmHWM") }
    },
    stop: async () => {
      running.child.kill("SIGKILL")
      while (running.child.exitCode === null && running.child.signalCode === null) await sleep(20)
    }
  }
}

/** Brings a server to where it works with all its memory: by many ordinary requests, and some that are large. */
export const warm = async (server: Server, seed: number): Promise<void> => {
  const { large } = server.kind
  if (large !== undefined)
    for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 4 }, () => server.ask(plain(large))))
  await warmUp(server, 1000, seed)
}

/** Asks for what ordinary clients ask for, until so many requests were answered. */
const warmUp = async (server: Server, requests: number, seed: number): Promise<void> => {
  const samples = fc.sample(server.kind.protocol, { seed, numRuns: requests })
  for (let at = 0; at < samples.length; at += concurrency)
    await Promise.all(samples.slice(at, at + concurrency).map((request) => server.ask(plain(request))))
}

/** Ordinary requests with pauses, in which the server can give memory back. */
export const settle = async (server: Server): Promise<void> => {
  for (let round = 0; round < 4; round++) {
    await warmUp(server, 50, round)
    await sleep(1000)
  }
}

/** How much of the memory after ordinary requests a server may hold after hostile ones. */
export const growth = 1.5

/** Requests of one client that are in flight at once. */
export const concurrency = 16

/** Milliseconds in which every answer comes, but that of a long poll. */
export const testTimeout = 5000

const longPoll = 20_000

/** Milliseconds for which an answer is looked for that need not come. */
const moment = 50

/** A server has to wait for the rest of a body that is shorter than its head says. */
const isIncomplete = ({ headers }: Message): boolean => headers.some(([name]) => name === "content-length")

const launch = async ({ args }: Kind, cwd: string) => {
  const { child, ready } = await inspoServer(args, { cwd })
  let stderr = ""
  child.stderr.on("data", (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-10_000)))
  child.stdout.resume()
  return { child, port: Number(new URL(JSON.parse(ready).url).port), stderr: () => stderr }
}

/** What servers call that which later requests refer to. */
const names = new Map([
  ["session_id", "session"],
  ["model_id", "model"],
  ["sampling_session_id", "sampler"],
  ["request_id", "future"],
  ["path", "checkpoint"],
  ["tinker_path", "checkpoint"]
])

const faultOf = (message: Message, answer: Answer, cwd: string): string | null => {
  const { body, head, milliseconds, status } = answer
  // Who refuses a long body unread resets the connection, and the answer may be lost with it.
  const isLost =
    isIncomplete(message) ||
    message.body?._tag === "Repeated" ||
    message.delivery === "cut" ||
    message.delivery === "deaf"
  if (status === null) return isLost ? null : "no answer came"
  if (status >= 500 && status !== 503) return `status ${status}: ${body.slice(0, 500)}`
  if (body.includes('"category":"server"')) return `the server failed on its own: ${body.slice(0, 500)}`
  const patienceOfThis = message.path.includes("retrieve_future") ? longPoll + testTimeout : testTimeout
  if (milliseconds > patienceOfThis) return `the answer (${status}) took ${Math.round(milliseconds)} ms`
  // Told on purpose: where the tokenizer lies, and the settings of a run, which name its data.
  const told = `${head}\n${body.replaceAll(/"tokenizer_id":"[^"]*"|"[^"]*\/questions\.jsonl"/gu, "")}`
  const path = [cwd, homedir(), repository].find((path) => path.length > 1 && told.includes(path))
  return path === undefined ? null : `a path of this machine is told: ${excerpt(told, path)}`
}

const excerpt = (text: string, part: string): string => {
  const at = text.indexOf(part)
  return text.slice(Math.max(0, at - 200), at + 200)
}

const repository = fileURLToPath(new URL("../../../", import.meta.url)).replace(/\/$/u, "")
