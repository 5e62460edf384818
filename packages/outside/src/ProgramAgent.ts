/** An agent that is a program: started once for each worker, and again after it broke. */
import { PlainText } from "@inspo/domain"
import { type Cause, type Duration, Effect, Exit, Fiber, Queue, Result, Scope, Semaphore, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { type Command, keepEnd, lastError } from "./ChildProgram.ts"
import * as Exchange from "./Exchange.ts"
import { type Call, failed, type OutsideAgent, replyOf } from "./OutsideAgent.ts"

export interface Options {
  readonly command: Command
  /** How many processes share the calls. */
  readonly workers: number
  /** How long a process may give no answer while a call waits. */
  readonly timeout: Duration.Input
  /** Gets what the processes print besides answers. */
  readonly log: (text: string) => Effect.Effect<void>
}

/**
 * Starts the processes when they are needed, and ends them with their children. When a process breaks, it is ended, and each of its calls
 * is repeated alone in a new one: so only the call that breaks it again fails.
 */
export const make = Effect.fnUntraced(function* (options: Options) {
  const name = options.command.join(" ")
  const workers = yield* Effect.replicateEffect(worker(name, options), options.workers)
  const ask: OutsideAgent["ask"] = (call, again) => Effect.suspend(() => leastBusy(workers).ask(call, again))
  return { name, ask } satisfies OutsideAgent
})

interface Worker {
  readonly busy: () => number
  readonly ask: OutsideAgent["ask"]
}

const leastBusy = (workers: ReadonlyArray<Worker>): Worker =>
  workers.reduce((least, one) => (one.busy() < least.busy() ? one : least))

const worker = Effect.fnUntraced(function* (name: string, options: Options) {
  const scope = yield* Effect.scope
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const starting = yield* Semaphore.make(1)
  const inFlight = yield* Semaphore.make(mostInFlight)
  let current: Running | null = null
  let busy = 0

  const running = Effect.suspend(() =>
    current !== null && current.exchange.ended() === null
      ? Effect.succeed(current)
      : Effect.map(start(options, scope), (one) => (current = one))
  ).pipe(Effect.provideService(ChildProcessSpawner.ChildProcessSpawner, spawner), Effect.uninterruptible, (started) =>
    starting.withPermit(started)
  )

  const attempt = Effect.fnUntraced(function* (call: Call) {
    const process = yield* Effect.mapError(running, ({ message }) =>
      failed(name, `cannot be run: ${message}`, cannotStart)
    )
    const answer = yield* process.exchange.ask(call).pipe(
      // After silence the process is of no use to its other calls either.
      Effect.tapError(({ reason }) => process.stop(reason)),
      Effect.result
    )
    if (Result.isFailure(answer)) return yield* answer.failure
    return yield* replyOf(name, answer.success)
  })

  const ask = (call: Call, again: Effect.Effect<void> = Effect.void) =>
    inFlight.withPermit(attempt(call)).pipe(
      Effect.catchTag("Broken", () =>
        inFlight.withPermits(mostInFlight)(
          Effect.andThen(again, attempt({ ...call, id: `${call.id} again`, attempt: call.attempt + 1 }))
        )
      ),
      Effect.catchTag("Broken", ({ reason }) => Effect.fail(failed(name, reason)))
    )

  return {
    busy: () => busy,
    ask: (call, again) =>
      Effect.acquireUseRelease(
        Effect.sync(() => (busy += 1)),
        () => ask(call, again),
        () => Effect.sync(() => (busy -= 1))
      )
  } satisfies Worker
})

/** More calls than a search makes at a time. */
const mostInFlight = 1024
/** The status of a call after which no other one is of use. */
const cannotStart = 404

interface Running {
  readonly exchange: Exchange.Exchange
  /** Ends the process, in the background. */
  readonly stop: (reason: string) => Effect.Effect<void>
}

const start = Effect.fnUntraced(function* (
  { command: [program, ...args], log, timeout }: Options,
  parent: Scope.Scope
) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const scope = yield* Scope.fork(parent)
  const input = yield* Queue.unbounded<string, Cause.Done>()
  const stream = Stream.encodeText(Stream.fromQueue(input))
  const child = yield* spawner
    .spawn(ChildProcess.make(program, args, { stdin: { stream }, killSignal: "SIGTERM", forceKillAfter: "2 seconds" }))
    .pipe(
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
  const exchange = Exchange.make({ write: (line) => Queue.offer(input, line), log, timeout })
  const stop = Effect.fnUntraced(function* (reason: string) {
    yield* exchange.end(reason)
    yield* Effect.forkIn(Scope.close(scope, Exit.void), parent)
  })
  let trouble = ""
  const receive = (text: string) =>
    Effect.andThen(
      exchange.receive(text),
      Effect.suspend(() => (exchange.ended() === null ? Effect.void : stop("")))
    )
  const report = (text: string) => {
    trouble = keepEnd(trouble + text)
    return log(text)
  }
  const reading = yield* Effect.all(
    [
      child.stdout.pipe(Stream.decodeText, Stream.runForEach(receive)),
      child.stderr.pipe(Stream.decodeText, Stream.runForEach(report))
    ],
    { concurrency: "unbounded" }
  ).pipe(Effect.forkIn(scope))
  const ending = Effect.gen(function* () {
    const code = yield* Effect.exit(child.exitCode)
    // Its children may hold its streams open.
    yield* Effect.timeoutOption(Fiber.await(reading), "1 second")
    const how = Exit.isSuccess(code) ? ` with exit code ${code.value}` : ""
    const said = trouble === "" ? "" : `: ${PlainText.escape(lastError(trouble).slice(0, 1000))}`
    yield* stop(`ended${how} before it answered${said}`)
  })
  const ended = yield* Effect.forkIn(ending, scope)
  // The end of its input lets a program end by itself, and write what it has to say.
  const finish = Effect.andThen(Queue.end(input), Effect.timeoutOption(Fiber.await(ended), "500 millis"))
  yield* Scope.addFinalizer(
    scope,
    Effect.suspend(() => (exchange.ended() === null ? finish : Effect.void))
  )
  return { exchange, stop } satisfies Running
})
