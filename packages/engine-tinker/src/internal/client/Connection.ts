import { Clock, type Duration, Effect, Result } from "effect"
import type { HttpBody, HttpClient, HttpMethod } from "effect/http"
import * as Protobuf from "../../Protobuf.ts"
import * as Wire from "../../Wire.ts"
import * as RetryBudget from "./RetryBudget.ts"
import * as Reply from "./Reply.ts"
import { failure, type RequestFailure } from "./RequestFailure.ts"
import * as Retrieval from "./Retrieval.ts"
import * as Transport from "./Transport.ts"
import { judge } from "./Verdict.ts"

interface ConnectionOptions extends Transport.TransportOptions {
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

/**
 * The transport of one server: what can be retried is, as the protocol's clients do, for as long as `retryBudget` says and
 * never without a word.
 */
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
  /** Sends a request and waits for its result. */
  readonly call: <A, E = never>(request: Request<E>, decode: Reply.Decode<A>) => Effect.Effect<A, RequestFailure | E>
}

export const make = (client: HttpClient.HttpClient, options: ConnectionOptions): Connection => {
  const send = Transport.make(client, options)
  const retryBudget = RetryBudget.make(options.url, options.retryBudget)
  const retrieve = Retrieval.make(send, retryBudget, options.protobuf)

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
