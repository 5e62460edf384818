/** A gateway in a process beside that of a run: it answers calls of episodes that the run lends it, and returns what it recorded. */
import { randomUUID } from "node:crypto"
import type { Engine } from "@inspo/engine"
import { OpenAiRefusal } from "@inspo/http/server"
import { Clock, Deferred, Duration, Effect, Layer, Schema } from "effect"
import { Gateway, type OpenEpisode } from "./Gateway.ts"
import * as Loan from "./Loan.ts"
import { routes as routesOfCalls } from "./routes.ts"
import * as Workers from "./Workers.ts"

export interface Options {
  /** Posts a body to a path of the run. */
  readonly ask: (
    path: string,
    body: object
  ) => Effect.Effect<string, { readonly reason: string; readonly status: number | null }>
  /** What the run said at `GET /episodes/setting`, as JSON. */
  readonly setting: string
  /** How long a worker may play an episode. */
  readonly timeout: Duration.Input
}

/**
 * The routes of a run's gateway and its workers, behind any balancer that brings all calls of an episode to the same process: the
 * first one borrows the episode. What a process had recorded is lost with it, and the run has its episodes played again, under
 * other names.
 *
 * `changed` fails once the run has another setting.
 */
export const make = Effect.fnUntraced(function* ({ ask, setting, timeout }: Options) {
  const gateway = yield* Gateway
  const services = yield* Effect.context<Engine>()
  const scope = yield* Effect.scope
  const changed = yield* Deferred.make<never, OpenAiRefusal.Refusal>()
  const patience = Duration.toMillis(timeout)
  const id = randomUUID()
  const loans = new Map<string, Borrowed>()
  let count = 0

  const asked = <A>(path: string, body: object, schema: Schema.Codec<A>) =>
    Effect.flatMap(
      Effect.mapError(ask(path, body), ({ reason, status }) =>
        OpenAiRefusal.refuse(status ?? 502, `the run: ${reason}`)
      ),
      (answer) => Effect.mapError(Schema.decodeEffect(Schema.fromJsonString(schema))(answer), OpenAiRefusal.failed)
    )

  const borrow = Effect.fnUntraced(function* (name: string, to: string) {
    const lent = yield* asked(`/episodes/${name}/lend`, { to }, Loan.Lent)
    if (JSON.stringify(lent.setting) !== setting) {
      const refusal = OpenAiRefusal.refuse(503, "the run has other settings than before; start its gateway again")
      yield* Deferred.fail(changed, refusal)
      return yield* refusal
    }
    return yield* gateway.open(lent.episode, name)
  })

  /** Ends a loan, and returns what was recorded; null where it has ended. */
  const end = (loan: Borrowed) => {
    if (loan.isOver) return Effect.succeed(null)
    loan.isOver = true
    return Effect.flatMap(Deferred.await(loan.opened), ({ close }) => close)
  }
  const forget = (name: string, loan: Borrowed) => Effect.sync(() => loans.get(name) === loan && loans.delete(name))

  const borrowed = Effect.fnUntraced(function* (name: string) {
    const now = yield* Clock.currentTimeMillis
    const known = loans.get(name)
    if (known !== undefined) return known
    const loan: Borrowed = { to: `${id}-${count++}`, since: now, opened: Deferred.makeUnsafe(), isOver: false }
    loans.set(name, loan)
    // Not by the call, which may be given up.
    yield* Effect.forkIn(Deferred.into(borrow(name, loan.to), loan.opened), scope)
    for (const [late, old] of loans) {
      if (now - old.since < patience) break
      yield* Effect.forkIn(Effect.ensuring(Effect.ignore(end(old)), forget(late, old)), scope)
    }
    return loan
  })

  const answering = Gateway.of({
    ...gateway,
    call: Effect.fnUntraced(function* (name, call) {
      yield* Deferred.await((yield* borrowed(name)).opened)
      return yield* gateway.call(name, call)
    })
  })
  const source: Workers.Source = {
    next: Effect.map(asked("/episodes/next", {}, Given), (call) =>
      call === null ? null : { call, path: new URL(call.baseUrl).pathname }
    ),
    reward: Effect.fnUntraced(function* (name, answer) {
      const loan = yield* borrowed(name)
      const recorded = yield* end(loan)
      if (recorded === null) return yield* OpenAiRefusal.refuse(404, "the episode is over")
      const { to } = loan
      yield* asked(`/episodes/${name}/return`, { to, answer, recorded }, Schema.Unknown).pipe(
        Effect.ensuring(forget(name, loan))
      )
    }, Effect.uninterruptible)
  }
  const routes = Layer.merge(
    routesOfCalls.pipe(Layer.provide([Layer.succeedContext(services), Layer.succeed(Gateway, answering)])),
    Workers.routesOf(source)
  )
  return { routes, changed: Deferred.await(changed) }
})

/** An episode that was borrowed at a time, in milliseconds; `to` names the loan. */
interface Borrowed {
  readonly to: string
  readonly since: number
  readonly opened: Deferred.Deferred<OpenEpisode, OpenAiRefusal.Refusal>
  isOver: boolean
}

const Given = Schema.NullOr(
  Schema.StructWithRest(Schema.Struct({ baseUrl: Schema.String }), [Schema.Record(Schema.String, Schema.Json)])
)
