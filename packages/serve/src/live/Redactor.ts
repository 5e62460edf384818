/** Blackens texts on a thread of its own. */
import { Worker } from "node:worker_threads"
import { Effect, Schema, type Scope } from "effect"

/** Gives texts without what patterns match. These are known to be good. Dies with {@link RedactorDied}. */
export type Redactor = (
  patterns: ReadonlyArray<string>,
  texts: ReadonlyArray<string>
) => Effect.Effect<ReadonlyArray<string>>

/** The thread ended over some texts. They are not stored; the next ones get another thread. */
export class RedactorDied extends Schema.TaggedError<RedactorDied>()("RedactorDied", {
  reason: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return `the thread that redacts texts ended: ${this.reason}; none was stored, so send the same again`
  }
}

export interface Task {
  readonly id: number
  readonly patterns: ReadonlyArray<string>
  readonly texts: ReadonlyArray<string>
}

export type Reply = Pick<Task, "id" | "texts">

/** The thread starts with the first texts and ends with the scope; it takes what it is told in turn. */
export const make: Effect.Effect<Redactor, never, Scope.Scope> = Effect.gen(function* () {
  const waiting = new Map<number, (result: Effect.Effect<ReadonlyArray<string>>) => void>()
  let tasks = 0
  let thread: Worker | null = null
  yield* Effect.addFinalizer(() => Effect.promise(async () => thread?.terminate()))

  const start = (): Worker => {
    const worker = new Worker(workerUrl)
    const end = (reason: string, cause?: unknown) => {
      if (thread !== worker) return
      thread = null
      const failing = [...waiting.values()]
      waiting.clear()
      for (const resume of failing) resume(Effect.die(new RedactorDied({ reason, cause })))
    }
    worker.on("message", ({ id, texts }: Reply) => {
      const resume = waiting.get(id)
      waiting.delete(id)
      resume?.(Effect.succeed(texts))
    })
    return worker.on("error", (error) => end(error.message, error)).on("exit", (code) => end(`code ${code}`))
  }

  return (patterns, texts) =>
    patterns.length === 0
      ? Effect.succeed(texts)
      : Effect.callback((resume) => {
          const id = tasks++
          waiting.set(id, resume)
          thread ??= start()
          thread.postMessage({ id, patterns, texts } satisfies Task)
          return Effect.sync(() => waiting.delete(id))
        })
})

/** The module of the thread, whether that runs from source or compiled. */
const workerUrl = new URL(`./internal/worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url)
