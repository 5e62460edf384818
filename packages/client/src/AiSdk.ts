/** A middleware of the AI SDK (the package `ai`) that begins the system prompt with a leased instruction. */
import type { CallOptions, Inspo, LeaseOptions, LeaseRequest } from "./Inspo.ts"
import type { Details, Lease } from "./Lease.ts"
import { fields } from "./Wire.ts"

export interface Options
  extends Pick<LeaseRequest, "stratum" | "question">, Omit<LeaseOptions, "fallback">, Pick<CallOptions, "timeout"> {
  /** The instruction while no server ever told one. */
  readonly fallback: string
}

/** What a result says of its instruction, in `providerMetadata.inspo`; `lease` is null where the call went on without one. */
export interface Used {
  readonly lease: string | null
  /** Null where it was the fallback. */
  readonly instruction: string | null
}

/** Metadata of the AI SDK: JSON by the name of who tells it. */
type Metadata<Value = unknown> = Readonly<Record<string, Readonly<Record<string, Value>>>>

/** What the middleware reads of a call to a model. */
interface Call {
  readonly prompt: ReadonlyArray<{ readonly role: string; readonly content: unknown }>
  readonly providerOptions?: Metadata
}

interface Told {
  readonly providerMetadata?: Metadata
}

interface Part extends Told {
  readonly type: string
  readonly error?: unknown
}

interface Result {
  readonly providerMetadata: Metadata | undefined
}

/** A middleware for `wrapLanguageModel`, with which to report. */
export interface Instructing {
  transformParams<P extends Call>(options: { readonly params: P }): Promise<P>
  wrapGenerate<R extends Told>(options: {
    readonly doGenerate: () => PromiseLike<R>
    readonly params: Call
  }): Promise<R>
  wrapStream<P extends Part, R extends { readonly stream: ReadableStream<P> }>(options: {
    readonly doStream: () => PromiseLike<R & { readonly stream: ReadableStream<P> }>
    readonly params: Call
  }): Promise<R>
  /**
   * Queues the reward of the conversation that a result is of, in [0, 1] or the population's `rewardRange`; of a stream, `finalStep`.
   * The first one counts. Where the result has no lease nothing is told. Rejected where it is none of a model with this middleware.
   */
  readonly report: (
    result: Result | PromiseLike<Result>,
    value: number,
    details?: Omit<Details, "sample">
  ) => Promise<void>
}

/**
 * Begins the system prompt of each call with the instruction that its conversation is leased: one lease for all calls with the
 * same `providerOptions: { inspo: { conversation } }`, the steps of a tool loop among them. Calls that name none are rejected.
 * Without an answer of the server in time a conversation goes on with the last incumbent, else with the fallback. Where a call of the
 * model or its stream fails, the lease is given back; where another call of it was answered, it is reported as failed. That waits for 90
 * seconds, or a flush, where the call may be made again or what was answered reported: another call and a report undo it.
 */
export const instruct = (inspo: Inspo, population: string, { fallback, ...options }: Options): Instructing => {
  /** Of the conversations that were used last. */
  const leases = new Map<string, Promise<Lease>>()

  const leaseOf = ({ providerOptions }: Call): Promise<Lease> => {
    const key = providerOptions?.["inspo"]?.["conversation"]
    if (typeof key !== "string" || key === "")
      return Promise.reject(
        new TypeError(
          `providerOptions.inspo.conversation is ${JSON.stringify(key)}; expected a text that names the conversation`
        )
      )
    const lease = leases.get(key) ?? inspo.lease(population, { ...options, fallback, key })
    leases.delete(key)
    leases.set(key, lease)
    lease.catch(() => leases.delete(key))
    for (const oldest of leases.keys()) {
      if (leases.size <= mostConversations) break
      leases.delete(oldest)
    }
    return lease
  }

  const failures = failuresOf(inspo)

  const failed = async (error: unknown, call: Call): Promise<void> => failures.add(await leaseOf(call), error)

  const marked = async <R extends Told>(result: R, call: Call): Promise<R> => {
    const lease = await leaseOf(call)
    failures.answered(lease)
    const used: Used = { lease: lease.id, instruction: lease.instruction }
    return { ...result, providerMetadata: { ...result.providerMetadata, inspo: { ...used } } }
  }

  return {
    transformParams: async ({ params }) => {
      const lease = await leaseOf(params)
      failures.forget(lease.id)
      return { ...params, prompt: begin(lease.text, params.prompt) }
    },
    wrapGenerate: async ({ doGenerate, params }) => {
      try {
        return await marked(await doGenerate(), params)
      } catch (error) {
        await failed(error, params)
        throw error
      }
    },
    wrapStream: async ({ doStream, params }) => {
      try {
        const result = await doStream()
        const finish = <P extends Part>(part: P) => marked(part, params)
        return { ...result, stream: watched(result.stream, finish, (error) => failed(error, params)) }
      } catch (error) {
        await failed(error, params)
        throw error
      }
    },
    report: async (result, value, details = {}) => {
      const used = (await result).providerMetadata?.["inspo"]
      if (used === undefined)
        throw new TypeError("the result has no providerMetadata.inspo; expected one of a model with this middleware")
      const { lease } = used
      if (typeof lease !== "string") return
      failures.forget(lease)
      await inspo.reward(population, { ...details, lease, value })
    }
  }
}

/** What is made of leases whose calls fail, once it is clear that their conversations do not go on. */
const failuresOf = (inspo: Inspo) => {
  const answered = new WeakSet<Lease>()
  /** Of leases by their ids: what drops a failure that waits. */
  const waiting = new Map<string, () => void>()
  const forget = (id: string | null): void => waiting.get(id ?? "")?.()

  const add = (lease: Lease, error: unknown): void => {
    const { id } = lease
    if (id === null) return
    forget(id)
    // What was never answered says nothing, as if it had not been asked.
    const report = () => void (answered.has(lease) ? lease.fail() : lease.abandon())
    if (!answered.has(lease) && !mayGoOn(error)) return report()
    const settle = () => {
      forget(id)
      report()
    }
    const end = inspo.onFlush(settle)
    const timer = setTimeout(settle, answerTimeout)
    // Waiting keeps no program from ending. Timers are numbers outside of Node.
    if (typeof timer === "object") timer.unref()
    waiting.set(id, () => {
      clearTimeout(timer)
      end()
      waiting.delete(id)
    })
  }
  return { add, forget, answered: (lease: Lease) => void answered.add(lease) }
}

/** Whether the AI SDK may make the call again, or who broke it off may go on. */
const mayGoOn = (error: unknown): boolean => {
  const { isRetryable, name } = fields(error)
  return isRetryable === true || name === "AbortError"
}

/** Milliseconds for which the AI SDK may wait before it makes a call again, and more. */
const answerTimeout = 90_000

/** A stream whose last part is changed by `finish`; `failed` is called where it fails or is cancelled. */
const watched = <P extends Part>(
  stream: ReadableStream<P>,
  finish: (part: P) => Promise<P>,
  failed: (error: unknown) => Promise<void>
): ReadableStream<P> => {
  const reader = stream.getReader()
  let isOver = false
  const over = async (error: unknown) => {
    if (isOver) return
    isOver = true
    await failed(error)
  }
  return new ReadableStream<P>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read()
          if (done) {
            await over(new Error("the stream ended before its end"))
            return controller.close()
          }
          if (value.type === "error") await over(value.error)
          const isFinished = value.type === "finish"
          controller.enqueue(isFinished ? await finish(value) : value)
          isOver ||= isFinished
        } catch (error) {
          await over(error)
          controller.error(error)
        }
      },
      cancel: async (reason) => {
        await over({ name: "AbortError" })
        await reader.cancel(reason)
      }
    },
    { highWaterMark: 0 }
  )
}

/** Conversations whose lease is kept; the server knows the leases of the others. */
const mostConversations = 10_000

/** One system message, since many models take no second one. */
const begin = (text: string, prompt: Call["prompt"]): Call["prompt"] => {
  const [first, ...rest] = prompt
  return first?.role === "system" && typeof first.content === "string"
    ? [{ ...first, content: `${text}\n\n${first.content}` }, ...rest]
    : [{ role: "system", content: text }, ...prompt]
}
