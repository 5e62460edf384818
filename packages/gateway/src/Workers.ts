/** An agent that is workers elsewhere: each asks for an episode, plays it, and sends what came of it. */
import { OpenAiRefusal } from "@inspo/http/server"
import { OutsideAgent } from "@inspo/outside"
import { Deferred, type Duration, Effect, type Layer, Option, Queue } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"

export interface Options {
  readonly name: string
  /** How long a worker may play an episode. After this it counts as lost, and what it sends is refused. */
  readonly timeout: Duration.Input
}

export interface Workers {
  readonly player: OutsideAgent.OutsideAgent
  /**
   * - `POST /episodes/next` answers with a call and its `rewardUrl`, or with null where none came up for some seconds.
   * - `POST /episodes/NAME/reward` takes an output, a score or an error, once.
   */
  readonly routes: Layer.Layer<never, never, HttpRouter.HttpRouter>
}

/** Gives each episode to one worker. One whose worker is lost fails with the status of a timeout. */
export const make = Effect.fnUntraced(function* ({ name, timeout }: Options) {
  const waiting = yield* Queue.unbounded<Episode>()
  const open = new Map<string, Episode>()

  const ask = Effect.fnUntraced(function* (call: OutsideAgent.Call) {
    const path = new URL(call.baseUrl ?? "").pathname
    const episode = {
      call,
      path,
      given: yield* Deferred.make<void>(),
      answer: yield* Deferred.make<OutsideAgent.Answer>()
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

  const reward = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const body = yield* Effect.mapError(request.json, () => OpenAiRefusal.refuse(400, "the body is not JSON"))
    const answer = OutsideAgent.decode(body)
    if (Option.isNone(answer)) return yield* OpenAiRefusal.refuse(400, `expected ${OutsideAgent.expected}`)
    const episode = open.get(nameOf(request.url))
    if (episode === undefined) return yield* OpenAiRefusal.refuse(404, "the episode is over, or was never begun")
    const isScored = answer.value.score != null
    yield* Deferred.succeed(episode.answer, { ...(isScored ? { output: "" } : {}), ...answer.value })
    return HttpServerResponse.jsonUnsafe({})
  })

  const routes = HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      yield* router.add("POST", "/episodes/next", (request) =>
        Effect.map(Effect.timeoutOption(next, longPoll), (found) =>
          HttpServerResponse.jsonUnsafe(Option.match(found, { onNone: () => null, onSome: reaching(request) }))
        )
      )
      yield* router.add("POST", "/episodes/:name/reward", (request) =>
        reward(request).pipe(
          Effect.catch((refusal) =>
            Effect.succeed(HttpServerResponse.jsonUnsafe(OpenAiRefusal.bodyOf(refusal), { status: refusal.status }))
          )
        )
      )
    })
  )
  return { player: { name, ask }, routes } satisfies Workers
})

/** The status of an episode that can be played again. */
export const lost = 408

interface Episode {
  readonly call: OutsideAgent.Call
  readonly path: string
  readonly given: Deferred.Deferred<void>
  readonly answer: Deferred.Deferred<OutsideAgent.Answer>
}

/** A call with the addresses as its worker reaches them. */
const reaching =
  ({ headers }: HttpServerRequest.HttpServerRequest) =>
  ({ call, path }: Episode) => {
    const origin = `${headers["x-forwarded-proto"] ?? "http"}://${headers["host"] ?? ""}`
    return { ...call, baseUrl: `${origin}${path}`, rewardUrl: `${origin}/episodes/${nameOf(path)}/reward` }
  }

const nameOf = (path: string): string => path.split("/")[2] ?? ""

const longPoll = "20 seconds"
