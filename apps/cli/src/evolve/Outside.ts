/** Connects the agent that `--agent` names. */
import { createHash } from "node:crypto"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { EndpointAgent, Exchange, FunctionAgent, OutsideAgent, ProgramAgent, Secrets } from "@inspo/outside"
import { FetchHttpClient } from "effect/http"
import { Effect, FileSystem, Option, type Scope, Semaphore } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import type { CallContext } from "@inspo/evolve"
import type { ModelName } from "@inspo/reflection"
import { type UsageError, usageError } from "../Failure.ts"
import { type Job, rowOf } from "./Job.ts"
import * as Scoring from "./Scoring.ts"

export interface Options {
  readonly workers: number
  /** Seconds. */
  readonly timeout: number
  /** How often a call to an address is repeated. */
  readonly retries?: number
  /** The file for what a program prints besides answers. */
  readonly log: string
}

/** What `--agent` may be, for messages. */
export const forms =
  'a program such as "python agent.py", an address such as http://127.0.0.1:8000/run, or ./agent.ts#run'

/** An agent, and the proposer beside it, which only the process that started this one can be. */
export interface Connected extends OutsideAgent.OutsideAgent {
  readonly propose?: (request: string, left: number | null, spend: (usd: number) => void) => ReturnType<typeof proposal>
}

/** Starts no program yet: it is started by the first call, and ends with the scope. */
export const connect: (
  named: OutsideAgent.Named,
  options: Options
) => Effect.Effect<
  Connected,
  UsageError,
  Scope.Scope | FileSystem.FileSystem | ChildProcessSpawner.ChildProcessSpawner
> = Effect.fnUntraced(function* (named: OutsideAgent.Named, { log, timeout: seconds, workers, ...retrying }: Options) {
  const timeout = seconds * 1000
  switch (named.kind) {
    case "program":
      return yield* ProgramAgent.make({ command: named.command, workers, timeout, log: yield* logTo(log) })
    case "endpoint":
      return yield* Effect.flatMap(EndpointAgent.make({ url: named.url, timeout, ...retrying }), (agent) =>
        Option.isSome(agent) ? Effect.succeed(agent.value) : refuse("an address", "http://127.0.0.1:8000/run")
      )
    case "function": {
      const { file, name } = named
      const url = pathToFileURL(resolve(file)).href
      const module = yield* Effect.tryPromise({
        try: async (): Promise<Readonly<Record<string, unknown>>> => import(url),
        catch: (cause) =>
          usageError(`--agent is ${file}#${name}, and ${file} cannot be loaded: ${String(cause)}.`, cause)
      })
      const found = module[name]
      if (typeof found !== "function") return yield* refuse(`${file}#${name}`, `a function that ${file} exports`)
      const run: FunctionAgent.Options["run"] = (...given) => Reflect.apply(found, undefined, given)
      return FunctionAgent.make({ name: `${file}#${name}`, run, timeout })
    }
    case "parent":
      return parentAgent(yield* parent(timeout, yield* logTo(log)))
  }
}, Effect.provide(FetchHttpClient.layer))

/** A reply, whose price goes to `spend`; a score of the program stays with its output, so that neither is paid twice. */
export const ask = Effect.fnUntraced(function* (
  agent: OutsideAgent.OutsideAgent,
  model: ModelName.ModelName | null,
  prompt: string,
  job: Job,
  { key, spend }: Pick<CallContext, "key" | "spend">
) {
  const { usd = 0, ...reply } = yield* agent
    .ask({
      id: key,
      prompt,
      case: rowOf(job),
      ...("propose" in agent && job.place !== undefined ? { row: job.place } : {}),
      ...(model === null ? {} : { model: model.model }),
      ...(model?.url == null ? {} : { baseUrl: model.url }),
      attempt: 0
    })
    .pipe(Effect.tapError((failure) => Effect.sync(() => spend(failure.usd))))
  spend(usd)
  return reply.score === undefined && reply.feedback === undefined && reply.metrics === undefined
    ? Scoring.textOf(reply.output)
    : reply
})

const refuse = (value: string, expected: string) =>
  Effect.fail(usageError(`--agent is ${value}; expected ${expected}.`))

/** The process that started this one: it reads calls from standard output, and writes answers to standard input. */
const parent = Effect.fnUntraced(function* (timeout: number, log: (text: string) => Effect.Effect<void>) {
  const write = (line: string) => Effect.sync(() => process.stdout.write(line))
  const exchange = Exchange.make({ write, log, timeout })
  const read = (text: string) => Effect.runFork(exchange.receive(text))
  const end = () => Effect.runFork(exchange.end("closed the input of this process"))
  yield* Effect.acquireRelease(
    Effect.sync(() => process.stdin.setEncoding("utf8").on("data", read).on("end", end).on("error", end)),
    (input) => Effect.sync(() => input.off("data", read).off("end", end).off("error", end).destroy())
  )
  return exchange
})

const parentAgent = (exchange: Exchange.Exchange): Connected => ({
  name: "-",
  propose: (request, left, spend) => proposal(exchange, request, left, spend),
  ask: (call) =>
    Effect.flatMap(askParent(exchange, call), (answer) => OutsideAgent.replyOf("the starting process", answer))
})

const proposal = Effect.fnUntraced(function* (
  exchange: Exchange.Exchange,
  request: string,
  left: number | null,
  spend: (usd: number) => void
) {
  // The same after a restart.
  const id = `proposal ${createHash("sha256").update(request).digest("hex").slice(0, 16)}`
  const answer = yield* askParent(exchange, { id, request, usd: left })
  const { output, usd = 0 } = yield* OutsideAgent.replyOf("the starting process", answer)
  spend(usd)
  return { text: Scoring.textOf(output) }
})

/** Without the process that answers, every other call would fail, too. */
const askParent = (exchange: Exchange.Exchange, line: Parameters<Exchange.Exchange["ask"]>[0]) =>
  Effect.mapError(exchange.ask(line), ({ reason }) => OutsideAgent.failed("the starting process", reason, gone))

const gone = 410

/** Adds to a file, as much as a person reads, without what the environment names a secret. */
const logTo = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const turn = yield* Semaphore.make(1)
  let left = mostLog
  return (text: string): Effect.Effect<void> => {
    if (left <= 0) return Effect.void
    const cut = text.slice(0, left)
    left -= cut.length
    const end = left <= 0 ? "\nThe log is full; the rest of this session is left out.\n" : ""
    return turn.withPermit(Effect.ignore(fs.writeFileString(file, `${Secrets.redacted(cut)}${end}`, { flag: "a" })))
  }
})

const mostLog = 10_000_000
