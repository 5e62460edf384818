/** An agent that is workers elsewhere: each asks for an episode, plays it, and sends what came of it. */
import { Malformed, OpenAiRefusal } from "@inspo/http/server"
import { OutsideAgent } from "@inspo/outside"
import { Deferred, type Duration, Effect, Layer, Option, Queue, Result, Schema } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Gateway } from "./Gateway.ts"
import * as Loan from "./Loan.ts"

export interface Options {
  readonly name: string
  /** How long a worker may play an episode. After this it counts as lost, and what it sends is refused. */
  readonly timeout: Duration.Input
  /** What gateways beside this one have to know, for `GET /episodes/setting`. */
  readonly setting?: Schema.Json
}

export interface Workers {
  readonly player: OutsideAgent.OutsideAgent
  /** Those of {@link routesOf}, and those that lend episodes to the gateways of other processes. */
  readonly routes: Layer.Layer<never, never, HttpRouter.HttpRouter>
}

/** Where the routes get episodes, and bring what came of them. */
export interface Source {
  /** The next episode, or null where none came up for some seconds. */
  readonly next: Effect.Effect<Given | null, OpenAiRefusal.Refusal>
  readonly reward: (name: string, answer: OutsideAgent.Answer) => Effect.Effect<void, OpenAiRefusal.Refusal>
}

/** A call for a worker; `path` is that of its `baseUrl`. */
export interface Given {
  readonly call: object
  readonly path: string
}

/**
 * - `POST /episodes/next` answers with a call and its `rewardUrl`, or with null.
 * - `POST /episodes/NAME/reward` takes an output, a score or an error, once.
 */
export const routesOf = ({ next, reward }: Source): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      yield* post(router, "/episodes/next", (request) =>
        Effect.map(next, (given) => (given === null ? null : reaching(request, given)))
      )
      yield* post(
        router,
        "/episodes/:name/reward",
        Effect.fnUntraced(function* (request) {
          const answer = yield* Effect.fromResult(readAnswer(yield* json(request)))
          yield* reward(nameOf(request.url), { ...(answer.score == null ? {} : { output: "" }), ...answer })
          return {}
        })
      )
    })
  )

/** Gives each episode to one worker. One whose worker or gateway is lost fails with the status of a timeout. */
export const make = Effect.fnUntraced(function* ({ name, setting = null, timeout }: Options) {
  const gateway = yield* Gateway
  const waiting = yield* Queue.unbounded<Episode>()
  const open = new Map<string, Episode>()

  const ask = Effect.fnUntraced(function* (call: OutsideAgent.Call) {
    const path = new URL(call.baseUrl ?? "").pathname
    const episode: Episode = {
      call,
      path,
      given: yield* Deferred.make<void>(),
      answer: yield* Deferred.make<OutsideAgent.Answer, OutsideAgent.OutsideFailed>()
    }
    const played = Effect.andThen(Deferred.await(episode.given), Deferred.await(episode.answer).pipe(limited))
    open.set(nameOf(path), episode)
    yield* Queue.offer(waiting, episode)
    const answer = yield* Effect.ensuring(
      played,
      Effect.sync(() => open.delete(nameOf(path)))
    )
    return yield* OutsideAgent.replyOf(name, answer)
  })
  const limited = Effect.timeoutOrElse({
    duration: timeout,
    orElse: () => Effect.fail(OutsideAgent.failed(name, "sent no reward in time; raise the timeout", lost))
  })

  const isOpen = (episode: Episode) => open.get(nameOf(episode.path)) === episode
  const next: Effect.Effect<Episode> = Effect.flatMap(Queue.take(waiting), (episode) =>
    isOpen(episode) ? Effect.as(Deferred.succeed(episode.given, undefined), episode) : next
  ).pipe(Effect.catch(() => Effect.never))

  const episodeOf = (named: string) => {
    const episode = open.get(named)
    return episode === undefined
      ? OpenAiRefusal.refuse(404, "the episode is over, or was never begun")
      : Effect.succeed(episode)
  }
  /** What a gateway that answered calls has recorded is gone with it. */
  const lose = ({ answer }: Episode) => Deferred.fail(answer, OutsideAgent.failed(name, "has lost its gateway", lost))

  const lend = Effect.fnUntraced(function* (named: string, { to }: Loan.Wanted) {
    const episode = yield* episodeOf(named)
    const lent = yield* Effect.tapError(gateway.lend(named, to), () => lose(episode))
    return { episode: lent, setting } satisfies Loan.Lent
  })
  const takeBack = Effect.fnUntraced(function* (named: string, { answer, recorded, to }: Loan.Returned) {
    const episode = yield* episodeOf(named)
    yield* gateway.giveBack(named, to, recorded)
    yield* Deferred.succeed(episode.answer, answer)
    return {}
  })

  const routes = Layer.merge(
    routesOf({
      next: Effect.map(Effect.timeoutOption(next, longPoll), Option.getOrNull),
      reward: Effect.fnUntraced(function* (named, answer) {
        yield* Deferred.succeed((yield* episodeOf(named)).answer, answer)
      })
    }),
    HttpRouter.use(
      Effect.fnUntraced(function* (router) {
        yield* router.add("GET", "/episodes/setting", () => Effect.succeed(HttpServerResponse.jsonUnsafe(setting)))
        yield* post(router, "/episodes/:name/lend", (request) =>
          Effect.flatMap(bodyOf(request, Loan.Wanted), (wanted) => lend(nameOf(request.url), wanted))
        )
        yield* post(router, "/episodes/:name/return", (request) =>
          Effect.flatMap(bodyOf(request, Loan.Returned), (returned) => takeBack(nameOf(request.url), returned))
        )
      })
    )
  )
  return { player: { name, ask }, routes } satisfies Workers
})

/** The status of an episode that can be played again. */
export const lost = 408

interface Episode extends Given {
  readonly call: OutsideAgent.Call
  readonly given: Deferred.Deferred<void>
  readonly answer: Deferred.Deferred<OutsideAgent.Answer, OutsideAgent.OutsideFailed>
}

type Request = HttpServerRequest.HttpServerRequest

const post = (
  router: HttpRouter.HttpRouter,
  path: HttpRouter.PathInput,
  answer: (request: Request) => Effect.Effect<object | null, OpenAiRefusal.Refusal>
) =>
  router.add("POST", path, (request) =>
    Effect.match(answer(request), {
      onSuccess: (body) => HttpServerResponse.jsonUnsafe(body),
      onFailure: (refusal) => HttpServerResponse.jsonUnsafe(OpenAiRefusal.bodyOf(refusal), { status: refusal.status })
    })
  )

const json = (request: Request) =>
  Effect.mapError(request.json, () => OpenAiRefusal.refuse(400, "the body is not JSON"))

const readAnswer = (body: unknown): Result.Result<OutsideAgent.Answer, OpenAiRefusal.Refusal> => {
  const refuse = (field: string, value: unknown, expected: string) =>
    Result.fail(
      new OpenAiRefusal.Refusal({
        status: 400,
        field,
        reason: `${field} is ${Malformed.shown(value, "absent")}, expected ${expected}; send ${OutsideAgent.expected}`
      })
    )
  const answer = decodeAnswer(body)
  if (Result.isFailure(answer)) {
    const { expected, path } = Malformed.deepest(answer.failure.issue)
    return refuse(path.length === 0 ? "body" : Malformed.fieldOf(path), Malformed.valueAt(body, path), expected)
  }
  const { error, output, score } = answer.success
  return output === undefined && score == null && error == null
    ? refuse("output", undefined, "an output, a score or an error")
    : Result.succeed(answer.success)
}

/** Workers may send the id of the call back, as programs do. */
const decodeAnswer = Schema.decodeUnknownResult(
  Schema.Struct({ ...OutsideAgent.Answer.fields, id: Schema.optionalKey(Schema.Json) }),
  { onExcessProperty: "error" }
)

const bodyOf = <A>(request: Request, schema: Schema.Codec<A>) =>
  Effect.flatMap(json(request), (body) =>
    Effect.mapError(Schema.decodeUnknownEffect(schema)(body), ({ message }) => OpenAiRefusal.refuse(400, message))
  )

/** A call with the addresses as its worker reaches them. */
const reaching = ({ headers }: Request, { call, path }: Given) => {
  const origin = `${headers["x-forwarded-proto"] ?? "http"}://${headers["host"] ?? ""}`
  return { ...call, baseUrl: `${origin}${path}`, rewardUrl: `${origin}/episodes/${nameOf(path)}/reward` }
}

const nameOf = (path: string): string => path.split("/")[2] ?? ""

const longPoll = "20 seconds"
