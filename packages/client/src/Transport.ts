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
  late?: (value: A) => void,
  /** The instructions that the answer may hold. */
  instructions?: number
) => Promise<Result<A>>

/**
 * The largest answer that is read, in characters: so large, and larger with each instruction, up to a limit. Reading one takes a time that
 * no timeout ends, so that it has to be short whatever is in it.
 */
const longest = (instructions: number): number => Math.min(2 ** 21 + 2 ** 16 * instructions, 2 ** 24)
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
          reason: `status ${status}, ${problem ?? "not an answer of inspo"}`,
          status,
          refused: problem !== undefined,
          retryAfter: Math.min(Number(response.headers.get("retry-after")) || 0, 60) * 1000
        }
      } catch (error) {
        // A connection that the server had closed meanwhile breaks when it is used again.
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
      // What one server asked for holds, whatever the next one says.
      last = { ...failed, value: undefined, retryAfter: Math.max(retryAfter, last.retryAfter) }
      // Another server would say the same.
      if (isFinal(last)) break
    }
    return last
  }
}

/** Whether inspo refused what would be refused again, whichever of its servers is asked, and when. */
export const isFinal = ({ refused, status }: Failure): boolean => refused && /^4(?!08|25|29)/u.test(String(status))

/** What comes of a promise that is never rejected, or undefined when the time is over, in milliseconds. */
export const within = <A>(timeout: number, promise: Promise<A>): Promise<A | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, timeout, undefined)))
  return Promise.race([promise, over]).finally(() => clearTimeout(timer))
}

/** What went wrong, by its cause where `fetch` names one. */
export const messageOf = (error: unknown): string =>
  String(error instanceof Error ? (error.cause ?? error.message) : error)

/** The JSON in an answer, undefined where it is none. */
const answerOf = async ({ body }: Response, most: number): Promise<unknown> => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const part of body ?? []) {
    text += decoder.decode(part, { stream: true })
    if (text.length > most) throw new Error("the answer is too long")
  }
  try {
    return JSON.parse(text + decoder.decode())
  } catch {
    return undefined
  }
}
