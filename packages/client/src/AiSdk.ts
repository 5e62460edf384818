/** A middleware of the AI SDK (the package `ai`) that begins the system prompt with a leased instruction. */
import type { CallOptions, Inspo, LeaseOptions, LeaseRequest } from "./Inspo.ts"
import type { Details, Lease } from "./Lease.ts"

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
  wrapStream<
    Part extends Told & { readonly type: string },
    R extends { readonly stream: ReadableStream<Part> }
  >(options: {
    readonly doStream: () => PromiseLike<R & { readonly stream: ReadableStream<Part> }>
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
 * Without an answer of the server in time a conversation goes on with the last incumbent, else with the fallback.
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

  const marked = async <R extends Told>(result: R, call: Call): Promise<R> => {
    const { id, instruction } = await leaseOf(call)
    const used: Used = { lease: id, instruction }
    return { ...result, providerMetadata: { ...result.providerMetadata, inspo: { ...used } } }
  }

  return {
    transformParams: async ({ params }) => ({
      ...params,
      prompt: begin((await leaseOf(params)).text, params.prompt)
    }),
    wrapGenerate: async ({ doGenerate, params }) => marked(await doGenerate(), params),
    wrapStream: async ({ doStream, params }) => {
      const result = await doStream()
      const stream = result.stream.pipeThrough(
        new TransformStream<Told & { readonly type: string }, Told & { readonly type: string }>({
          transform: async (part, controller) =>
            controller.enqueue(part.type === "finish" ? await marked(part, params) : part)
        })
      )
      return { ...result, stream }
    },
    report: async (result, value, details = {}) => {
      const used = (await result).providerMetadata?.["inspo"]
      if (used === undefined)
        throw new TypeError("the result has no providerMetadata.inspo; expected one of a model with this middleware")
      const { lease } = used
      if (typeof lease === "string") await inspo.reward(population, { ...details, lease, value })
    }
  }
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
