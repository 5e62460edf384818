import { Clock, Duration, Effect, Result, Option } from "effect"
import type { HttpBody, HttpClient, HttpMethod } from "effect/http"
import * as Protobuf from "../../Protobuf.ts"
import * as Wire from "../../Wire.ts"
import * as Reply from "./Reply.ts"
import { failure, type RequestFailure } from "./RequestFailure.ts"
import { jsonBody, make as makeTransport, type Send, type TransportOptions } from "./Transport.ts"
import { judge, type FutureVerdict, judgeFuture, pending, type Again, pause } from "./Verdict.ts"
import { Waiting } from "@inspo/http/client"

interface ConnectionOptions extends TransportOptions {
  /** Whether results may come as protobuf. */
  readonly protobuf: boolean
  /** How long a server may be out of reach. */
  readonly retryBudget: Duration.Input
}

export interface Request<E = never> {
  readonly path: string
  readonly body: HttpBody.HttpBody
  readonly headers?: Readonly<Record<string, string>>
  /** Whether it may be sent again when it is unknown if the server carried it out. */
  readonly repeatable: boolean
  /** Runs when the server turns it away for being busy (429). */
  readonly onBusy?: Effect.Effect<void>
  /** The server may answer with the result, in protobuf, where it is there soon. */
  readonly atOnce?: boolean
  /** Runs when the server has taken it, before its result is there. */
  readonly onAccepted?: (future: typeof Wire.Future.Type) => Effect.Effect<void, E>
}

/** The transport of one server: what can be retried is, for as long as `retryBudget` says and never without a word. */
export interface Connection {
  readonly get: <A>(path: string, decode: Reply.Decode<A>) => Effect.Effect<A, RequestFailure>
  readonly remove: (path: string) => Effect.Effect<void, RequestFailure>
  /** A request that is answered at once. */
  readonly post: <A>(request: Request, decode: Reply.Decode<A>) => Effect.Effect<A, RequestFailure>
  /** Sends a request whose result comes later; the effect within waits for it. */
  readonly submit: <A, E = never>(
    request: Request<E>,
    decode: Reply.Decode<A>
  ) => Effect.Effect<Effect.Effect<A, RequestFailure | E>, RequestFailure | E>
  readonly call: <A, E = never>(request: Request<E>, decode: Reply.Decode<A>) => Effect.Effect<A, RequestFailure | E>
}

export const make = (client: HttpClient.HttpClient, options: ConnectionOptions): Connection => {
  const send = makeTransport(client, options)
  const retryBudget = makeRetryBudget(options.url, options.retryBudget)
  const retrieve = makeRetrieve(send, retryBudget, options.protobuf)

  const exchange = Effect.fnUntraced(function* <A>(
    method: HttpMethod.HttpMethod,
    path: string,
    request: Pick<Request, "repeatable"> & Partial<Omit<Request, "onAccepted">>,
    decode: Reply.Decode<A>,
    firstHeaders: Request["headers"] = {}
  ): Effect.fn.Return<A, RequestFailure> {
    const began = yield* Clock.currentTimeMillis
    for (let attempt = 0; ; attempt++) {
      const sent = attempt === 0 ? { ...request, headers: { ...request.headers, ...firstHeaders } } : request
      const answer = yield* Effect.result(send(method, path, sent))
      const verdict = judge(answer, decode, attempt)
      if (verdict._tag === "Done") return verdict.value
      if (verdict._tag === "Refused") return yield* failure(path, "refused", verdict)
      if (verdict.mayHaveActed && !request.repeatable) return yield* failure(path, "uncertain", verdict)
      if (verdict.status === 429 && request.onBusy !== undefined) yield* request.onBusy
      if (!(yield* retryBudget.wait(path, verdict, attempt, began)))
        return yield* failure(path, verdict.mayHaveActed ? "unreachable" : "refused", verdict)
    }
  })

  const accept = Effect.fnUntraced(function* <E>(request: Request<E>) {
    const future = yield* exchange("POST", request.path, request, readFuture)
    if (request.onAccepted !== undefined) yield* request.onAccepted(future)
    return future.request_id
  })

  const settle = Effect.fnUntraced(function* <A, E>(request: Request<E>, first: string, decode: Reply.Decode<A>) {
    let id = first
    let reason = ""
    for (let round = 0; round < mostRounds; round++) {
      const result = yield* retrieve(request.path, id, decode)
      if (Result.isSuccess(result)) return result.success
      reason = `the server has no result: ${result.failure}`
      if (!request.repeatable) break
      yield* retryBudget.report(request.path, `${reason}; asking once more`)
      id = yield* accept(request)
    }
    return yield* failure(request.path, request.repeatable ? "failed" : "uncertain", { status: null, reason })
  })

  const submit: Connection["submit"] = (request, decode) =>
    Effect.map(accept(request), (id) => settle(request, id, decode))

  /** Only the first try asks for the result: one that takes longer than an answer may, or is unusable, is retrieved. */
  const callAtOnce = Effect.fnUntraced(function* <A, E>(request: Request<E>, decode: Reply.Decode<A>) {
    const answer = yield* exchange("POST", request.path, request, readAnswer(decode), askingAtOnce)
    return Result.isSuccess(answer) ? answer.success : yield* settle(request, answer.failure, decode)
  })

  return {
    get: (path, decode) => exchange("GET", path, { repeatable: true }, decode),
    remove: (path) => exchange("DELETE", path, { repeatable: true }, () => Result.succeed(undefined)),
    post: (request, decode) => exchange("POST", request.path, request, decode),
    submit,
    call: (request, decode) =>
      options.protobuf && request.atOnce === true
        ? callAtOnce(request, decode)
        : Effect.flatten(submit(request, decode))
  }
}

const mostRounds = 4

const askingAtOnce = { ...Wire.preferSoon, accept: Protobuf.contentType }

const readFuture = Reply.json(Wire.Future)

/** A result, or the id of its future. */
const readAnswer =
  <A>(decode: Reply.Decode<A>): Reply.Decode<Result.Result<A, string>> =>
  (reply) =>
    Reply.isProtobuf(reply)
      ? Result.map(decode(reply), (value) => Result.succeed(value))
      : Result.map(readFuture(reply), (future) => Result.fail(future.request_id))

/** Waits for the result of a future; the failure within says why the server has none. */
type Retrieve = <A>(
  path: string,
  id: string,
  decode: Reply.Decode<A>
) => Effect.Effect<Result.Result<A, string>, RequestFailure>

/** How the questions about a future went. */
interface Course {
  /** When the server last said that it is at work, in milliseconds. */
  readonly since: number
  /** Answers in a row that came at once. */
  readonly quick: number
  /** Unusable answers in a row. */
  readonly faults: number
}

/** `protobuf` says whether results may come so. */
const makeRetrieve = (send: Send, retryBudget: RetryBudget, protobuf: boolean): Retrieve => {
  const isWell = Effect.match(send("GET", "healthz"), {
    onSuccess: ({ status }) => status < 500,
    onFailure: () => false
  })

  const ask = Effect.fnUntraced(function* <A>(
    question: Parameters<Send>[2],
    decode: Reply.Decode<A>,
    faults: number
  ): Effect.fn.Return<FutureVerdict<A>> {
    const answer = yield* Effect.result(send("POST", "retrieve_future", question))
    // Some servers hold the question for longer than an answer may take: those that are well are at work.
    const holds = Result.isFailure(answer) && answer.failure.silent && (yield* isWell)
    return holds ? pending : judgeFuture(answer, decode, faults)
  })

  return Effect.fnUntraced(function* <A>(path: string, id: string, decode: Reply.Decode<A>) {
    const question = {
      body: jsonBody({ request_id: id }),
      headers: { ...(protobuf ? { accept: Protobuf.contentType } : {}), "x-tinker-request-type": typeOf(path) }
    }
    const began = yield* Clock.currentTimeMillis
    let course: Course = { since: began, quick: 0, faults: 0 }
    for (;;) {
      const asked = yield* Clock.currentTimeMillis
      const verdict = yield* ask(question, decode, course.faults)
      const now = yield* Clock.currentTimeMillis
      switch (verdict._tag) {
        case "Done":
          return Result.succeed(verdict.value)
        case "Lost":
          return Result.fail(verdict.reason)
        case "Failed":
          return yield* failure(path, verdict.kind, verdict)
        case "Pending":
          course = { since: now, quick: now - asked < 100 ? course.quick + 1 : 0, faults: 0 }
          // Servers that answer at once instead of waiting set no pace.
          if (course.quick > 0) yield* Effect.sleep(Math.min(5 * 2 ** course.quick, 1000))
          // A server may work for as long as it likes.
          if (now - began > retryBudget.limit)
            yield* retryBudget.report(path, `it has been at work for ${Waiting.span(now - began)}`)
          continue
        case "Again":
          if (!(yield* retryBudget.wait(path, verdict, course.faults, course.since)))
            return yield* failure(path, "unreachable", verdict)
          course = { ...course, faults: course.faults + 1 }
      }
    }
  })
}

/** The name of a request as the header of `retrieve_future` has it. */
const typeOf = (path: string): string =>
  path === "asample" ? "Sample" : path.replaceAll(/(?:^|_)([a-z])/gu, (_, letter: string) => letter.toUpperCase())

type RetryBudget = ReturnType<typeof makeRetryBudget>

/** How long a server is waited for, never without a word. */
const makeRetryBudget = (url: string, retryBudget: Duration.Input) => {
  const report = Waiting.make(url)
  const limit = Duration.toMillis(retryBudget)
  return {
    /** Says what a request waits for. */
    report,
    /** In milliseconds. */
    limit,
    /** Waits before a request is sent again, within the retryBudget that runs from `since`; false when that is at its end. */
    wait: Effect.fnUntraced(function* (path: string, verdict: Again, attempt: number, since: number) {
      const waited = (yield* Clock.currentTimeMillis) - since
      const left = (verdict.status === 402 ? billingPatience : limit) - waited
      const asked = Duration.toMillis(pause(verdict, attempt))
      if (left <= 0) return false
      const status = verdict.status === null ? "" : `${verdict.status}: `
      const until =
        asked > left && Option.isSome(verdict.retryAfter)
          ? `it asks to wait ${Waiting.span(asked)}, there will be one more try in ${Waiting.span(left)}`
          : `trying for ${Waiting.span(left)} more`
      // A busy server paces its clients: that is worth a word when it takes long.
      if (verdict.status !== 429 || asked + waited > busyFor)
        yield* report(path, `${status}${verdict.reason}; ${until}`)
      yield* Effect.sleep(Math.min(asked, left))
      return true
    })
  }
}

const billingPatience = 3_600_000

/** From how many milliseconds on it is said that a server is busy. */
const busyFor = 10_000
