/** Sends requests to the servers in turn, within a timeout. */
import * as Wire from "./Wire.ts"

/** Why there is no answer. */
export interface Failure {
  readonly reason: string
  /** The HTTP status of the response; 0 without one. */
  readonly status: number
  /** Whether the inspo server refused, and not something before it. */
  readonly refused: boolean
  /** How long to wait before the next request, in milliseconds. */
  readonly retryAfter: number
}

/** An answer, or why there is none. */
export interface Result<A> extends Failure {
  readonly value: A | undefined
}

export const failure = (reason: string): Result<never> => ({
  value: undefined,
  reason,
  status: 0,
  refused: false,
  retryAfter: 0
})

export interface Options {
  readonly urls: ReadonlyArray<string>
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: typeof fetch
}

export type Ask = <A extends object>(
  path: string,
  /** The body of a POST; without it the request is a GET. */
  body: string | undefined,
  read: (answer: unknown) => A | undefined,
  timeout: number,
  /** Called with an answer that arrives after the timeout. */
  late?: (value: A) => void,
  /** The number of instructions that the answer may contain. */
  instructions?: number
) => Promise<Result<A>>

/** The largest answer that is read, in characters; it grows with the instructions. No timeout ends the parsing of an answer. */
const longest = (instructions: number): number => Math.min(2 ** 21 + 2 ** 16 * instructions, 2 ** 24)
/** How many requests may stay open after their timeout. */
const mostLate = 32

/**
 * Starts with the server that answered last; a broken connection is retried once. Each server gets its share of the remaining time. The
 * next server is tried if one is unreachable, too slow, fails, or returns something that is not an inspo answer.
 */
export const make = ({ fetch, headers, urls }: Options): Ask => {
  let first = 0
  let late = 0

  const attempt = async <A extends object>(
    url: string,
    body: string | undefined,
    read: (answer: unknown) => A | undefined,
    most: number,
    signal: AbortSignal
  ): Promise<Result<A>> => {
    for (let again = true; ; again = false)
      try {
        const response = await fetch(url, {
          headers,
          signal,
          redirect: "manual",
          ...(body === undefined ? {} : { method: "POST", body })
        })
        const { status } = response
        const answer = await answerOf(response, most)
        const problem = Wire.problem(answer)
        return {
          value: response.ok ? read(answer) : undefined,
          reason: `status ${status}, ${problem ?? "not an inspo answer"}`,
          status,
          refused: problem !== undefined,
          retryAfter: Math.min(Number(response.headers.get("retry-after")) || 0, 60) * 1000
        }
      } catch (error) {
        // A kept connection that the server has closed breaks when it is used again.
        if (!again || !(error instanceof TypeError)) return failure(messageOf(error))
      }
  }

  return async (path, body, read, timeout, whenLate, instructions = 1) => {
    const end = performance.now() + timeout
    let last = failure("")
    for (let turn = 0; turn < urls.length; turn++) {
      const index = (first + turn) % urls.length
      const slot = Math.max(end - performance.now(), 0) / (urls.length - turn)
      const controller = new AbortController()
      const trying = attempt(`${urls[index]}${path}`, body, read, longest(instructions), controller.signal)
      const answered = await within(slot, trying)
      if (answered === undefined) {
        if (whenLate === undefined || late >= mostLate) controller.abort()
        else {
          late++
          void within(10 * timeout, trying).then((result) => {
            late--
            if (result?.value !== undefined) whenLate(result.value)
            return controller.abort()
          })
        }
      } else if (answered.value !== undefined) {
        first = index
        return answered
      }
      const { retryAfter, ...failed } = answered ?? failure(`no answer within ${Math.round(slot)} ms`)
      // The longest wait that a server asked for applies.
      last = { ...failed, value: undefined, retryAfter: Math.max(retryAfter, last.retryAfter) }
      // Another server would refuse too.
      if (isFinal(last)) break
    }
    return last
  }
}

/** Whether inspo refused a request that every server would always refuse. */
export const isFinal = ({ refused, status }: Failure): boolean => refused && /^4(?!08|25|29)/u.test(String(status))

/** The value of a promise that never rejects; undefined after the timeout, in milliseconds. */
export const within = <A>(timeout: number, promise: Promise<A>): Promise<A | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, timeout, undefined)))
  return Promise.race([promise, over]).finally(() => clearTimeout(timer))
}

/** The message of an error; the cause, if `fetch` has one. */
export const messageOf = (error: unknown): string =>
  String(error instanceof Error ? (error.cause ?? error.message) : error)

/** The JSON of a response; undefined if it is not JSON. */
const answerOf = async ({ body }: Response, most: number): Promise<unknown> => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const part of body ?? []) {
    text += decoder.decode(part, { stream: true })
    if (text.length > most) throw new Error("the answer is too large")
  }
  try {
    return JSON.parse(text + decoder.decode())
  } catch {
    return undefined
  }
}
