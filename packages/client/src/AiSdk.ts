/** A middleware of the AI SDK (the package `ai`) that puts a leased instruction at the start of the system prompt. */
import type { CallOptions, Inspo, LeaseOptions, LeaseRequest } from "./Inspo.ts"
import type { Details, Lease } from "./Lease.ts"

export interface Options
  extends Pick<LeaseRequest, "stratum" | "question">, Omit<LeaseOptions, "fallback">, Pick<CallOptions, "timeout"> {
  /** The instruction until a server has returned one. */
  readonly fallback: string
}

/** The instruction of a result, in `providerMetadata.inspo`; `lease` is null if the call used none. */
export interface Used {
  readonly lease: string | null
  /** Null if it was the fallback. */
  readonly instruction: string | null
}

/** Metadata of the AI SDK: JSON by the name of its provider. */
type Metadata<Value = unknown> = Readonly<Record<string, Readonly<Record<string, Value>>>>

/** The part of a call to a model that the middleware reads. */
interface Call {
  readonly prompt: ReadonlyArray<{ readonly role: string; readonly content: unknown }>
  readonly providerOptions?: Metadata
}

interface WithMetadata {
  readonly providerMetadata?: Metadata
}

interface Part extends WithMetadata {
  readonly type: string
}

interface Result {
  readonly providerMetadata: Metadata | undefined
}

/** A middleware for `wrapLanguageModel` that can also report rewards. */
export interface Instructing {
  transformParams<P extends Call>(options: { readonly params: P }): Promise<P>
  wrapGenerate<R extends WithMetadata>(options: {
    readonly doGenerate: () => PromiseLike<R>
    readonly params: Call
  }): Promise<R>
  wrapStream<P extends Part, R extends { readonly stream: ReadableStream<P> }>(options: {
    readonly doStream: () => PromiseLike<R & { readonly stream: ReadableStream<P> }>
    readonly params: Call
  }): Promise<R>
  /**
   * Queues the reward of a result's conversation, in [0, 1] or the population's `rewardRange`; for a stream, pass its `finalStep`.
   * The first reward counts. A result without a lease is ignored. Rejects a result of a model without this middleware.
   */
  readonly report: (
    result: Result | PromiseLike<Result>,
    value: number,
    details?: Omit<Details, "sample">
  ) => Promise<void>
}

/**
 * Starts the system prompt of each call with the leased instruction of its conversation. All calls with the same
 * `providerOptions: { inspo: { conversation } }` share one lease, including the steps of a tool loop. Calls without it are rejected.
 * If the server does not respond in time, the conversation uses the last incumbent, else the fallback. If a call of the model or its
 * stream fails, the lease is abandoned; if an earlier call of the conversation succeeded, it is reported as failed. This waits for 90
 * seconds or a flush; another call or a reward of the conversation cancels it.
 */
export const instruct = (inspo: Inspo, population: string, { fallback, ...options }: Options): Instructing => {
  /** Leases of the most recent conversations. */
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

  const failed = async (call: Call): Promise<void> => failures.add(await leaseOf(call))

  const marked = async <R extends WithMetadata>(result: R, call: Call, isFailed = false): Promise<R> => {
    const lease = await leaseOf(call)
    if (!isFailed) failures.answered(lease)
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
        await failed(params)
        throw error
      }
    },
    wrapStream: async ({ doStream, params }) => {
      try {
        const result = await doStream()
        const finish = <P extends Part>(part: P, isFailed: boolean) => marked(part, params, isFailed)
        return { ...result, stream: watched(result.stream, finish, () => failed(params)) }
      } catch (error) {
        await failed(params)
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

/** Reports leases whose calls failed, once their conversations cannot continue. */
const failuresOf = (inspo: Inspo) => {
  const answered = new WeakSet<Lease>()
  /** Cancels the pending report of a failure, by the id of its lease. */
  const waiting = new Map<string, () => void>()
  const forget = (id: string | null): void => waiting.get(id ?? "")?.()

  const add = (lease: Lease): void => {
    const { id } = lease
    if (id === null) return
    forget(id)
    const settle = () => {
      forget(id)
      // Without any response the instruction counts as not used.
      void (answered.has(lease) ? lease.fail() : lease.abandon())
    }
    const end = inspo.onFlush(settle)
    const timer = setTimeout(settle, answerTimeout)
    // The timer does not keep the process alive. Outside of Node a timer is a number.
    if (typeof timer === "object") timer.unref()
    waiting.set(id, () => {
      clearTimeout(timer)
      end()
      waiting.delete(id)
    })
  }
  return { add, forget, answered: (lease: Lease) => void answered.add(lease) }
}

/** Milliseconds: longer than the AI SDK waits before it retries a call, and enough for a user who tries again. */
const answerTimeout = 90_000

/** A stream whose last part `finish` changes; `failed` is called if the stream fails or is cancelled. */
const watched = <P extends Part>(
  stream: ReadableStream<P>,
  finish: (part: P, isFailed: boolean) => Promise<P>,
  failed: () => Promise<void>
): ReadableStream<P> => {
  const reader = stream.getReader()
  let isOver = false
  const over = async () => {
    if (isOver) return
    isOver = true
    await failed()
  }
  return new ReadableStream<P>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read()
          if (done) {
            await over()
            return controller.close()
          }
          if (value.type === "error") await over()
          const isFinished = value.type === "finish"
          controller.enqueue(isFinished ? await finish(value, isOver) : value)
          isOver ||= isFinished
        } catch (error) {
          await over()
          controller.error(error)
        }
      },
      cancel: async (reason) => {
        await over()
        await reader.cancel(reason)
      }
    },
    { highWaterMark: 0 }
  )
}

/** Conversations whose lease is kept here; the server returns the leases of the others again. */
const mostConversations = 10_000

/** One system message, since many models do not accept a second one. */
const begin = (text: string, prompt: Call["prompt"]): Call["prompt"] => {
  const [first, ...rest] = prompt
  return first?.role === "system" && typeof first.content === "string"
    ? [{ ...first, content: `${text}\n\n${first.content}` }, ...rest]
    : [{ role: "system", content: text }, ...prompt]
}
