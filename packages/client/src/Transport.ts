/** Asks the servers in turn, and never for longer than it was told to. */
import * as Wire from "./Wire.ts"

/** Why there is no answer. */
export interface Failure {
  readonly reason: string
  /** The status of an answer, 0 where none came. */
  readonly status: number
  /** Whether inspo itself refused. */
  readonly refused: boolean
  /** How long not to ask again, in milliseconds. */
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
  /** What is posted; without it the path is got. */
  body: string | undefined,
  read: (answer: unknown) => A | undefined,
  timeout: number,
  /** Told of an answer that comes when nobody waits for it any more. */
  late?: (value: A) => void
) => Promise<Result<A>>

/** The largest answer that is read, in characters. */
const longest = 16 * 2 ** 20
/** How many unanswered requests are listened to when their time is over. */
const mostLate = 32

/**
 * Begins with the server that answered last; a connection that breaks is tried once more. Each server has its share of the time that is left; the next one
 * is asked where one is not there, is too slow, fails, or answers with something else than inspo would.
 */
export const make = ({ fetch, headers, urls }: Options): Ask => {
  let first = 0
  let late = 0

  const attempt = async <A extends object>(
    url: string,
    body: string | undefined,
    read: (answer: unknown) => A | undefined,
    signal: AbortSignal,
    again: boolean
  ): Promise<Result<A>> => {
    try {
      const response = await fetch(url, {
        headers,
        signal,
        redirect: "manual",
        ...(body === undefined ? {} : { method: "POST", body })
      })
      const { status } = response
      const answer = parse(await textOf(response))
      const problem = Wire.problem(answer)
      return {
        value: response.ok ? read(answer) : undefined,
        reason: `status ${status}, ${problem ?? "not an answer of inspo"}`,
        status,
        refused: problem !== undefined,
        retryAfter: Math.min(Math.max(Number(response.headers.get("retry-after")) || 0, 0), 60) * 1000
      }
    } catch (error) {
      // A connection that the server had closed meanwhile breaks when it is used again.
      if (again && error instanceof TypeError) return attempt(url, body, read, signal, false)
      return failure(messageOf(error))
    }
  }

  /** Waits on for an answer that the caller does not wait for any more. */
  const listen = async <A>(
    trying: Promise<Result<A>>,
    patience: number,
    controller: AbortController,
    whenLate: (value: A) => void
  ) => {
    late++
    const result = await within(patience, trying)
    late--
    if (result?.value !== undefined) whenLate(result.value)
    controller.abort()
  }

  return async (path, body, read, timeout, whenLate) => {
    const end = performance.now() + timeout
    let last: Failure = failure("no address")
    for (let turn = 0; turn < urls.length; turn++) {
      const index = (first + turn) % urls.length
      const slot = Math.max(end - performance.now(), 0) / (urls.length - turn)
      const controller = new AbortController()
      const trying = attempt(`${urls[index]}${path}`, body, read, controller.signal, true)
      const result = await within(slot, trying)
      if (result === undefined) {
        last = failure(`no answer within ${Math.round(slot)} ms`)
        if (whenLate === undefined || late >= mostLate) controller.abort()
        else void listen(trying, 10 * timeout, controller, whenLate)
      } else if (result.value !== undefined) {
        first = index
        return result
      } else {
        last = result
        // Another server would say the same.
        if (result.status === 429 || (result.refused && result.status < 500)) break
      }
    }
    return { ...last, value: undefined }
  }
}

/** What comes of a promise that is never rejected, or undefined when the time is over, in milliseconds. */
export const within = <A>(timeout: number, promise: Promise<A>): Promise<A | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, timeout, undefined)))
  return Promise.race([promise, over]).finally(() => clearTimeout(timer))
}

export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const textOf = async ({ body }: Response): Promise<string> => {
  if (body === null) return ""
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ""
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    text += decoder.decode(value, { stream: true })
    if (text.length > longest) {
      await reader.cancel()
      throw new Error("the answer is too long")
    }
  }
}
