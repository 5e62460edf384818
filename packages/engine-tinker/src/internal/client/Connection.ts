import { Clock, Duration, Effect, Option, Redacted, Result } from "effect"
import { HttpBody, HttpClient, HttpClientRequest, type HttpMethod } from "effect/http"
import * as Protobuf from "../../Protobuf.ts"
import * as Wire from "../../Wire.ts"
import * as Reply from "./Reply.ts"
import { RequestFailure } from "./RequestFailure.ts"

export interface ConnectionOptions {
  /** Base of the server, without `/api/v1`. */
  readonly url: string
  readonly apiKey: Redacted.Redacted | null
  /** Whether results may come as protobuf. */
  readonly protobuf: boolean
  /** How long a server may be out of reach. */
  readonly patience: Duration.Input
  /** How long one answer may take; null where the HTTP client sees to that. */
  readonly answerWithin: Duration.Input | null
}

export interface Request {
  readonly path: string
  readonly body: HttpBody.HttpBody
  readonly headers?: Readonly<Record<string, string>>
  /** Whether it may be sent again when it is unknown if the server carried it out. */
  readonly repeatable: boolean
  /** Told when the server turns it away for being busy (429). */
  readonly onBusy?: Effect.Effect<void>
}

/** The transport of one server: what can be retried is, as the protocol's clients do. */
export interface Connection {
  readonly get: <A>(path: string, decode: Reply.Decode<A>) => Effect.Effect<A, RequestFailure>
  readonly remove: (path: string) => Effect.Effect<void, RequestFailure>
  /** A request that is answered at once. */
  readonly post: <A>(request: Request, decode: Reply.Decode<A>) => Effect.Effect<A, RequestFailure>
  /** Sends a request whose result comes later; the effect within waits for it. */
  readonly submit: <A>(
    request: Request,
    decode: Reply.Decode<A>
  ) => Effect.Effect<Effect.Effect<A, RequestFailure>, RequestFailure>
}

export const make = (client: HttpClient.HttpClient, options: ConnectionOptions): Connection => {
  const base = `${options.url.replace(/\/+$/u, "")}/api/v1/`
  const patience = Duration.toMillis(options.patience)
  const inTime = timely(options.answerWithin)
  const key = options.apiKey === null ? {} : { "x-api-key": Redacted.value(options.apiKey) }

  /** One exchange; the failure says why there is no answer, without what was sent. */
  const send = (
    method: HttpMethod.HttpMethod,
    path: string,
    request: Partial<Pick<Request, "body" | "headers">> = {}
  ): Effect.Effect<Reply.Reply, string> =>
    client
      .execute(
        HttpClientRequest.make(method)(`${base}${path}`, {
          headers: { ...key, ...request.headers },
          ...(request.body === undefined ? {} : { body: request.body })
        })
      )
      .pipe(
        Effect.flatMap((response) =>
          Effect.map(response.arrayBuffer, (body): Reply.Reply => ({
            status: response.status,
            headers: response.headers,
            body: new Uint8Array(body)
          }))
        ),
        Effect.mapError(({ reason }) => (reason._tag === "TransportError" ? "the connection broke" : reason._tag)),
        untraced,
        inTime
      )

  const exchange = Effect.fnUntraced(function* <A>(
    method: HttpMethod.HttpMethod,
    path: string,
    request: Pick<Request, "repeatable"> & Partial<Request>,
    decode: Reply.Decode<A>
  ): Effect.fn.Return<A, RequestFailure> {
    const began = yield* Clock.currentTimeMillis
    for (let attempt = 0; ; attempt++) {
      const answer = yield* Effect.result(send(method, path, request))
      const verdict = judge(answer, decode, attempt)
      if (verdict._tag === "Done") return verdict.value
      if (verdict._tag === "Refused") return yield* failure(path, "refused", verdict)
      if (verdict.mayHaveActed && !request.repeatable) return yield* failure(path, "uncertain", verdict)
      if ((yield* Clock.currentTimeMillis) - began > (verdict.status === 402 ? billingPatience : patience))
        return yield* failure(path, verdict.mayHaveActed ? "unreachable" : "refused", verdict)
      if (verdict.status === 429 && request.onBusy !== undefined) yield* request.onBusy
      yield* Effect.sleep(pause(verdict, attempt))
    }
  })

  const retrieve = Effect.fnUntraced(function* <A>(
    path: string,
    id: string,
    decode: Reply.Decode<A>
  ): Effect.fn.Return<Option.Option<A>, RequestFailure> {
    const body = jsonBody({ request_id: id })
    const headers = {
      ...(options.protobuf ? { accept: Protobuf.contentType } : {}),
      "x-tinker-request-type": typeOf(path)
    }
    let since = yield* Clock.currentTimeMillis
    let quick = 0
    let faults = 0
    for (;;) {
      const asked = yield* Clock.currentTimeMillis
      const verdict = judgeFuture(
        yield* Effect.result(send("POST", "retrieve_future", { body, headers })),
        decode,
        faults
      )
      const now = yield* Clock.currentTimeMillis
      switch (verdict._tag) {
        case "Done":
          return Option.some(verdict.value)
        case "Lost":
          return Option.none()
        case "Failed":
          return yield* failure(path, verdict.kind, verdict)
        case "Pending":
          // Servers that answer at once instead of waiting set no pace.
          quick = now - asked < 100 ? quick + 1 : 0
          if (quick > 0) yield* Effect.sleep(Math.min(5 * 2 ** quick, 1000))
          since = now
          faults = 0
          continue
        case "Again":
          faults += 1
          if (now - since > (verdict.status === 402 ? billingPatience : patience))
            return yield* failure(path, "unreachable", verdict)
          yield* Effect.sleep(pause(verdict, faults - 1))
      }
    }
  })

  const accept = (request: Request) =>
    Effect.map(exchange("POST", request.path, request, readFuture), ({ request_id }) => request_id)

  const settle = Effect.fnUntraced(function* <A>(request: Request, first: string, decode: Reply.Decode<A>) {
    let id = first
    for (let round = 0; round < mostRounds; round++) {
      const result = yield* retrieve(request.path, id, decode)
      if (Option.isSome(result)) return result.value
      if (!request.repeatable) break
      id = yield* accept(request)
    }
    const lost = { status: null, reason: "the server lost the result" }
    return yield* failure(request.path, request.repeatable ? "failed" : "uncertain", lost)
  })

  return {
    get: (path, decode) => exchange("GET", path, { repeatable: true }, decode),
    remove: (path) => exchange("DELETE", path, { repeatable: true }, () => Result.succeed(undefined)),
    post: (request, decode) => exchange("POST", request.path, request, decode),
    submit: (request, decode) => Effect.map(accept(request), (id) => settle(request, id, decode))
  }
}

/** A JSON body; what is undefined is left out. */
export const jsonBody = (body: object): HttpBody.HttpBody => HttpBody.text(JSON.stringify(body), "application/json")

const failure = (
  request: string,
  kind: RequestFailure["kind"],
  { reason, status }: Pick<RequestFailure, "reason" | "status">
) => new RequestFailure({ request, kind, status, reason })

/** A step makes tens of thousands of requests, too many for a span each. */
const untraced = Effect.provideService(HttpClient.TracerDisabledWhen, () => true)

/** Fails what takes too long. The HTTP client's own limit is cheaper where it has one: this one forks a fiber. */
const timely = (limit: Duration.Input | null) => {
  if (limit === null) return <A>(work: Effect.Effect<A, string>) => work
  const duration = Duration.fromInputUnsafe(limit)
  return Effect.timeoutOrElse({ duration, orElse: () => Effect.fail("no answer in time") })
}

const billingPatience = 3_600_000
const mostRounds = 4

const readFuture = Reply.json(Wire.Future)

interface Again {
  readonly _tag: "Again"
  readonly status: number | null
  readonly reason: string
  readonly retryAfter: Option.Option<Duration.Duration>
}

type Verdict<A> =
  | { readonly _tag: "Done"; readonly value: A }
  | { readonly _tag: "Refused"; readonly status: number; readonly reason: string }
  | (Again & { readonly mayHaveActed: boolean })

/** What the answer to a request means for it. */
const judge = <A>(answer: Result.Result<Reply.Reply, string>, decode: Reply.Decode<A>, attempt: number): Verdict<A> => {
  if (Result.isFailure(answer)) return { ...again(null, answer.failure), mayHaveActed: true }
  const reply = answer.success
  const { status } = reply
  if (status < 300) {
    const value = decode(reply)
    return Result.isSuccess(value)
      ? { _tag: "Done", value: value.success }
      : { ...again(status, value.failure), mayHaveActed: true }
  }
  const reason = Reply.detail(reply)
  if (status === 402 || status === 425 || status === 429)
    return { ...again(status, reason, reply), mayHaveActed: false }
  if (status === 408 || status >= 500 || (status === 409 && attempt < mostRefusals))
    return { ...again(status, reason, reply), mayHaveActed: true }
  return { _tag: "Refused", status, reason }
}

type FutureVerdict<A> =
  | { readonly _tag: "Done"; readonly value: A }
  | { readonly _tag: "Pending" | "Lost" }
  | {
      readonly _tag: "Failed"
      readonly kind: "refused" | "failed" | "invalid"
      readonly status: number
      readonly reason: string
    }
  | Again

/** What the answer to `retrieve_future` means for the future; `faults` counts the unusable answers before it. */
const judgeFuture = <A>(
  answer: Result.Result<Reply.Reply, string>,
  decode: Reply.Decode<A>,
  faults: number
): FutureVerdict<A> => {
  if (Result.isFailure(answer)) return again(null, answer.failure)
  const reply = answer.success
  const { status } = reply
  if (status < 300) {
    const state = Reply.state(reply)
    if (state._tag === "Pending") return { _tag: "Pending" }
    if (state._tag === "Failed") return { _tag: "Failed", kind: "failed", status, reason: state.reason }
    const value = decode(reply)
    if (Result.isSuccess(value)) return { _tag: "Done", value: value.success }
    return faults < mostRefusals
      ? again(status, value.failure)
      : { _tag: "Failed", kind: "invalid", status, reason: value.failure }
  }
  const reason = Reply.detail(reply)
  if (status === 408) return { _tag: "Pending" }
  if (status === 404 || status === 410) return { _tag: "Lost" }
  if (status === 402 || status === 425 || status === 429 || status >= 500) return again(status, reason, reply)
  return status === 400 && faults < mostRefusals
    ? again(status, reason)
    : { _tag: "Failed", kind: status === 400 ? "failed" : "refused", status, reason }
}

/** Proxies answer 400 and 409 of their own now and then. */
const mostRefusals = 3

const again = (status: number | null, reason: string, reply?: Reply.Reply): Again => ({
  _tag: "Again",
  status,
  reason,
  retryAfter: reply === undefined ? Option.none() : Reply.retryAfter(reply)
})

/** As long as the server asks for, else 0.5 s doubled with every attempt up to 30 s; 5 s while a bill is unpaid. */
const pause = ({ retryAfter, status }: Again, attempt: number): Duration.Duration =>
  status === 402
    ? Duration.seconds(5)
    : Option.getOrElse(retryAfter, () => Duration.millis(Math.min(500 * 2 ** attempt, 30_000)))

/** The name of a request as the header of `retrieve_future` has it. */
const typeOf = (path: string): string =>
  path === "asample" ? "Sample" : path.replaceAll(/(?:^|_)([a-z])/gu, (_, letter: string) => letter.toUpperCase())
