import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Assets, Server as Dashboard } from "@inspo/dashboard"
import type { JournalError } from "@inspo/journal"
import { Evolving, Journals, Limits, PopulationStore } from "@inspo/serve"
import * as Proxy from "@inspo/serve/http/Proxy"
import * as Registry from "@inspo/serve/live/Populations"
import * as Server from "@inspo/serve/http/Server"
import * as SharedStore from "@inspo/serve/store/SharedStore"
import * as SqliteStore from "@inspo/serve/store/SqliteStore"
import * as Standby from "@inspo/serve/store/Standby"
import { Console, Context, Deferred, Effect, Layer, Option, Path, Ref, Scope } from "effect"
import { FetchHttpClient, HttpRouter } from "effect/http"
import * as Secret from "../config/Secret.ts"
import { commandFailure, usageError } from "../Failure.ts"
import { type Address, admission, listen, routerConfig } from "../server/Listen.ts"
import * as Declared from "./Declared.ts"
import * as Writer from "./Proposer.ts"
import * as Upstream from "./Upstream.ts"
import { JsonFlag } from "../commands/handler.ts"

export interface ServeInput extends Address, Upstream.UpstreamInput {
  readonly config: Option.Option<string>
  readonly leaseKeyEnv: Option.Option<string>
  readonly database: Option.Option<string>
  readonly databasePasswordEnv: Option.Option<string>
  readonly advertise: Option.Option<string>
  readonly out: string
  readonly seedFile: ReadonlyArray<string>
}

/** Serves populations until it is interrupted; requests in flight are then answered. */
export const serve = Effect.fn("Serve.serve")(function* (input: ServeInput) {
  const keys = yield* keysOf(input)
  const { proposer: writer, populations: declared } = yield* Declared.read(input)
  const proposer = yield* Writer.make(writer)
  const upstream = yield* Upstream.make(input, keys)
  yield* Assets.ensure(Console.error("Building the page of populations, once …")).pipe(
    Effect.mapError((cause) => commandFailure(`${cause.message}.`, cause))
  )
  if (Option.isSome(input.database))
    return yield* serveShared(input, input.database.value, keys, { proposer, declared }, upstream)
  // Populations end after the server, which answers requests in flight before.
  const own = yield* Scope.fork(yield* Effect.scope)
  const { direct, known, url } = yield* listening(input, keys, upstream)
  const path = yield* Path.Path
  const store = SqliteStore.layer(path.join(input.out, "populations"))
  const ending = yield* Ref.make(false)
  const { app, populations } = yield* begin(keys, { proposer, declared }, store, direct, Ref.get(ending)).pipe(
    Effect.catchTag("JournalError", unusable),
    Scope.provide(own)
  )
  yield* Deferred.succeed(known, app)
  // Added last, so that it runs first: requests in flight are answered after it.
  yield* Effect.addFinalizer(() => Ref.set(ending, true))
  const names = (yield* populations.list).map(({ name }) => name)
  yield* Console.log(
    (yield* JsonFlag)
      ? JSON.stringify({ url, out: input.out, populations: names })
      : ready(url, input.out, names).join("\n")
  )
  return yield* Effect.never
}, Effect.scoped)

interface Start {
  readonly proposer: Evolving.ServerProposer | null
  readonly declared: ReadonlyArray<Declared.Declared>
}

/** Listens before it creates anything, so that a failed start leaves nothing behind. Requests wait until the routes are `known`. */
const listening = Effect.fnUntraced(function* (input: ServeInput, keys: Server.Keys, upstream: Upstream.Upstream) {
  const known = yield* Deferred.make<Standby.App>()
  const app = Effect.flatten(Deferred.await(known))
  const direct: Route = { now: null }
  // More exact than what is passed on to an upstream.
  const own = ["/v1/populations/*", "/v1/traces", "/v1/logs"] as const
  const exact = own.map((path) => HttpRouter.add("*", path, app))
  const routes = Layer.mergeAll(HttpRouter.add("*", "/*", app), ...exact, upstream.routes)
  const options = {
    ownHealth: true,
    answer: Server.refuse,
    keys: listOf(keys),
    maxBodyBytes: Limits.bodyBytes,
    isSlow: Proxy.isPath,
    direct: (...[request, response, otherwise]: Parameters<Server.Direct>) =>
      direct.now === null ? otherwise() : direct.now(request, response, otherwise)
  }
  const url = yield* listen("instruction server", input, routes, options)
  yield* upstream.begin(url)
  return { direct, known, url }
})

/** The direct way to answers, while this server has populations. */
interface Route {
  now: Server.Direct | null
}

/** The populations of a store and the declared ones, with the routes of their API and page. */
const begin = Effect.fnUntraced(function* <E, R>(
  keys: Server.Keys,
  { declared, proposer }: Start,
  store: Layer.Layer<PopulationStore, E, R>,
  route: Route,
  isEnding?: Effect.Effect<boolean>
) {
  const writer = Layer.succeed(Evolving.CurrentProposer, proposer)
  const populations = yield* Layer.build(Layer.provide(Registry.layer, [store, writer])).pipe(
    Effect.map(Context.get(Registry.Populations))
  )
  yield* Declared.ensure(populations, declared)
  if ((yield* populations.list).length === 0) yield* Declared.ensure(populations, [unnamed])
  const served = Layer.succeed(Registry.Populations, populations)
  const { direct, routes } = yield* Effect.provide(Server.make(keys, isEnding), served)
  const app = yield* HttpRouter.toHttpEffect(
    Layer.merge(Layer.provide(routes, served), Dashboard.layerPopulations({ assets: Assets.folder }))
  ).pipe(Effect.provide(NodeHttpServer.layerHttpServices), Effect.provideService(HttpRouter.RouterConfig, routerConfig))
  yield* Effect.acquireRelease(
    Effect.sync(() => (route.now = direct)),
    () => Effect.sync(() => (route.now = null))
  )
  return { app, populations }
})

/** Runs as one of several servers on a database: active, or on standby. */
const serveShared = Effect.fnUntraced(function* (
  input: ServeInput,
  database: string,
  keys: Server.Keys,
  start: Start,
  upstream: Upstream.Upstream
) {
  const flag = "--database-password-env"
  const password = yield* Secret.ofFlag(flag, input.databasePasswordEnv, "the password of the database")
  const { direct, known, url } = yield* listening(input, keys, upstream)
  const journals = Journals.inPostgres({ url: database, password, lease: "3 seconds" })
  const standby = yield* Standby.make({
    journals,
    keys: listOf(keys),
    address: Option.getOrElse(input.advertise, () => url),
    activate: Effect.fnUntraced(function* (own) {
      const store = Layer.effect(PopulationStore, SharedStore.make(own))
      const { app } = yield* begin(keys, start, store, direct)
      return app
    })
  }).pipe(Effect.catchTag("JournalError", unusable), Effect.provide(FetchHttpClient.layer))
  yield* Deferred.succeed(known, standby.app)
  const role = yield* standby.role
  const shared = `PostgreSQL, ${role._tag === "Active" ? "active" : "on standby"}`
  yield* Console.log((yield* JsonFlag) ? JSON.stringify({ url, role: role._tag }) : `${shared}, at ${url}`)
  return yield* Effect.catchTag(standby.ended, "JournalError", unusable)
})

const unusable = (cause: JournalError) => Effect.fail(commandFailure(`${cause.message}.`, cause))

/** The population of a server without declarations. */
const unnamed: Declared.Declared = { name: "default", made: { seed: "You are a helpful assistant." } }

/** The admin's key, which a server that other machines can reach must have, and that of agents. */
const keysOf = Effect.fnUntraced(function* (input: ServeInput) {
  const admin = yield* admission(input)
  if (admin === undefined && Option.isSome(input.leaseKeyEnv))
    return yield* usageError(
      "--lease-key-env names a key in addition to the admin's. Name the admin's key with --api-key-env, too."
    )
  const lease = yield* Secret.ofFlag("--lease-key-env", input.leaseKeyEnv, "the key of agents and trainers")
  if (admin === undefined) return {}
  return lease === undefined ? { admin } : { admin, lease }
})

const listOf = ({ admin, lease }: Server.Keys) => [admin, lease].filter((key) => key !== undefined)

/** Where it is, and the lines that a client needs. */
const ready = (url: string, out: string, names: ReadonlyArray<string>): ReadonlyArray<string> => [
  `${names.join(", ")} at ${url}, kept in ${out}. In your agent, with @inspo/client:`,
  "",
  `  const inspo = new Inspo({ urls: ["${url}"] })`,
  `  const lease = await inspo.lease("${names[0] ?? ""}") // lease.text is the instruction`,
  "  await lease.reward(1) // how well it went, from 0 to 1",
  ""
]
