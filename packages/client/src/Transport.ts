/** Asks the servers in turn, and never for longer than it was told to. */
import * as Wire from "./Wire.ts"

export interface Request {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body?: string
}

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

export const failure = (reason: string): Failure => ({ reason, status: 0, refused: false, retryAfter: 0 })

export type Result<A> = { readonly value: A } | Failure

export interface Options {
  readonly urls: ReadonlyArray<string>
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: typeof fetch
}

export type Ask = <A>(
  request: Request,
  read: (body: unknown) => A | undefined,
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

  const attempt = async <A>(
    url: string,
    request: Request,
    read: (body: unknown) => A | undefined,
    signal: AbortSignal,
    again: boolean
  ): Promise<Result<A>> => {
    const { body = null, method, path } = request
    try {
      const response = await fetch(url + path, {
        method,
        headers,
        signal,
        redirect: "manual",
        body
      })
      const { status } = response
      const answer = parse(await textOf(response))
      const value = status >= 200 && status < 300 ? read(answer) : undefined
      if (value !== undefined) return { value }
      const refused = status >= 400 && Wire.isProblem(answer)
      return {
        reason: `status ${status}, ${refused ? String(answer.detail ?? answer.title) : "not an answer of inspo"}`,
        status,
        refused,
        retryAfter: Math.min(Math.max(Number(response.headers.get("retry-after")) || 0, 0), 60) * 1000
      }
    } catch (error) {
      // A connection that the server had closed meanwhile breaks when it is used again.
      if (again && error instanceof TypeError) return attempt(url, request, read, signal, false)
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
    if (result === undefined) controller.abort()
    else if ("value" in result) whenLate(result.value)
  }

  return async (request, read, timeout, whenLate) => {
    const end = performance.now() + timeout
    let last = failure("no address")
    for (let turn = 0; turn < urls.length; turn++) {
      const index = (first + turn) % urls.length
      const slot = Math.max(end - performance.now(), 0) / (urls.length - turn)
      const controller = new AbortController()
      const trying = attempt(urls[index] ?? "", request, read, controller.signal, true)
      const result = await within(slot, trying)
      if (result === undefined) {
        last = failure(`no answer within ${Math.round(slot)} ms`)
        if (whenLate === undefined || late >= mostLate) controller.abort()
        else void listen(trying, 10 * timeout, controller, whenLate)
      } else if ("value" in result) {
        first = index
        return result
      } else {
        last = result
        // Another server would say the same.
        if (result.status === 429 || (result.refused && result.status < 500)) return last
      }
    }
    return last
  }
}

/** What comes of a promise that is never rejected, or undefined when the time is over, in milliseconds. */
export const within = async <A>(timeout: number, promise: Promise<A>): Promise<A | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, timeout, undefined)))
  try {
    return await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
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
