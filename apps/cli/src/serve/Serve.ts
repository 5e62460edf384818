import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Assets, Server as Dashboard } from "@inspo/dashboard"
import { Credentials } from "@inspo/http/server"
import type { JournalError } from "@inspo/journal"
import { Evolving, Journals, Limits, PopulationStore } from "@inspo/serve"
import * as Proxy from "@inspo/serve/http/Proxy"
import * as Registry from "@inspo/serve/live/Populations"
import * as Server from "@inspo/serve/http/Server"
import * as SharedStore from "@inspo/serve/store/SharedStore"
import * as SqliteStore from "@inspo/serve/store/SqliteStore"
import * as Standby from "@inspo/serve/store/Standby"
import {
  Console,
  Context,
  Deferred,
  Effect,
  Equal,
  Layer,
  Option,
  Path,
  Queue,
  Ref,
  Scope,
  Stream,
  Tracer
} from "effect"
import { FetchHttpClient, HttpRouter } from "effect/http"
import * as Secret from "../config/Secret.ts"
import { commandFailure, usageError } from "../Failure.ts"
import { type Address, admission, listen, routerConfig } from "../server/Listen.ts"
import * as Declared from "./Declared.ts"
import * as Writer from "./Proposer.ts"
import * as Upstream from "./Upstream.ts"
import { JsonFlag, JsonLogs } from "../commands/handler.ts"

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
  const own = yield* keysOf(input)
  const declarations = yield* declarationsOf(input, own)
  const now: Now = { declarations, populations: null, direct: null }
  const keys: Server.Keys = { ...own, named: () => now.declarations.keys }
  const proposer = yield* Writer.make(declarations.proposer)
  const upstream = yield* Upstream.make(input, keys)
  yield* Assets.ensure(Console.error("Building the page of populations, once …")).pipe(
    Effect.mapError((cause) => commandFailure(`${cause.message}.`, cause))
  )
  if (Option.isSome(input.database))
    return yield* serveShared(input, input.database.value, keys, { proposer, now }, upstream)
  // Populations end after the server, which answers requests in flight before.
  const scope = yield* Scope.fork(yield* Effect.scope)
  const { known, url } = yield* listening(input, keys, now, upstream)
  const path = yield* Path.Path
  const store = SqliteStore.layer(path.join(input.out, "populations"))
  const ending = yield* Ref.make(false)
  const { app, populations } = yield* begin(keys, { proposer, now }, store, Ref.get(ending)).pipe(
    Effect.catchTag("JournalError", unusable),
    Scope.provide(scope)
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
}, logging)

/** Log lines are JSON where the document on standard output is. */
function logging<A, E, R>(serving: Effect.Effect<A, E, R>) {
  return Effect.flatMap(JsonFlag, (is) => Effect.provideService(Effect.scoped(serving), JsonLogs, is))
}

interface Start {
  readonly proposer: Evolving.ServerProposer | null
  readonly now: Now
}

/** What changes while a server runs: its declarations, and its populations while it is active, with the direct way to their answers. */
interface Now {
  declarations: Declared.Declarations
  populations: Registry.Populations["Service"] | null
  direct: Server.Direct | null
}

/** The declarations. Keys among them add to the admin's. */
const declarationsOf = Effect.fnUntraced(function* (input: ServeInput, { admin }: Server.Keys) {
  const declarations = yield* Declared.read(input)
  return admin === undefined && Object.keys(declarations.keys).length > 0
    ? yield* usageError("The config file has keys in addition to the admin's. Name the admin's key with --api-key-env.")
    : declarations
})

/** Reads the declarations again at each SIGHUP. Keys change first; if something cannot be read, nothing changes. */
const reload = (input: ServeInput, keys: Server.Keys, now: Now) =>
  Stream.callback<void>((queue) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const asked = () => void Queue.offerUnsafe(queue, undefined)
        process.on("SIGHUP", asked)
        return asked
      }),
      (asked) => Effect.sync(() => process.off("SIGHUP", asked))
    )
  ).pipe(
    Stream.runForEach(() =>
      Effect.gen(function* () {
        const before = now.declarations
        now.declarations = yield* declarationsOf(input, keys)
        if (!Equal.equals(before.proposer, now.declarations.proposer))
          yield* Effect.logWarning("the proposer of the config file changes with the next start of the server")
        if (now.populations !== null) yield* Declared.ensure(now.populations, now.declarations.populations)
        yield* Effect.annotateLogs(Effect.logInfo("config read again"), {
          keys: Object.keys(now.declarations.keys).join(", ") || "none",
          populations: now.declarations.populations.map(({ name }) => name).join(", ") || "none"
        })
      }).pipe(
        Effect.catch(({ message }) => Effect.logError(`the config file is not in force as it is: ${message}`)),
        Effect.catchDefect((defect) => Effect.logError("the config file is not in force as it is", defect))
      )
    ),
    Effect.forkScoped
  )

/** Listens before it creates anything, so that a failed start leaves nothing behind. Requests wait until the routes are `known`. */
const listening = Effect.fnUntraced(function* (
  input: ServeInput,
  keys: Server.Keys,
  now: Now,
  upstream: Upstream.Upstream
) {
  yield* reload(input, keys, now)
  const known = yield* Deferred.make<Standby.App>()
  const app = Effect.flatten(Deferred.await(known))
  // More exact than what is passed on to an upstream.
  const exact = Proxy.ownPaths.map((path) => HttpRouter.add("*", path, app))
  const routes = Layer.mergeAll(HttpRouter.add("*", "/*", app), ...exact, upstream.routes)
  const options = {
    ownHealth: true,
    answer: Server.refuse,
    keys: listOf(keys),
    maxBodyBytes: Limits.bodyBytes,
    isSlow: Proxy.isPath,
    direct: ((request, response, otherwise) =>
      now.direct === null ? otherwise() : now.direct(request, response, otherwise)) satisfies Server.Direct
  }
  const url = yield* listen("instruction server", input, routes, options)
  yield* upstream.begin(url)
  return { known, url }
})

/** The populations of a store and the declared ones, with the routes of their API and page. */
const begin = Effect.fnUntraced(function* <E, R>(
  keys: Server.Keys,
  { now, proposer }: Start,
  store: Layer.Layer<PopulationStore, E, R>,
  isEnding?: Effect.Effect<boolean>
) {
  const writer = Layer.succeed(Evolving.CurrentProposer, proposer)
  const populations = yield* Layer.build(Layer.provide(Registry.layer, [store, writer])).pipe(
    Effect.map(Context.get(Registry.Populations))
  )
  yield* Declared.ensure(populations, now.declarations.populations)
  if ((yield* populations.list).length === 0) yield* Declared.ensure(populations, [unnamed])
  const served = Layer.succeed(Registry.Populations, populations)
  const { direct, routes } = yield* Effect.provide(Server.make(keys, isEnding), served)
  const app = yield* HttpRouter.toHttpEffect(
    Layer.merge(Layer.provide(routes, served), Dashboard.layerPopulations({ assets: Assets.folder }))
  ).pipe(
    Effect.provide(NodeHttpServer.layerHttpServices),
    Effect.provideService(HttpRouter.RouterConfig, routerConfig),
    // Handlers keep this context: what they note belongs to the span of their request, not of the command.
    withoutSpan
  )
  yield* Effect.acquireRelease(
    Effect.sync(() => Object.assign(now, { populations, direct })),
    () => Effect.sync(() => Object.assign(now, { populations: null, direct: null }))
  )
  return { app, populations }
})

const withoutSpan = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateContext(effect, (context: Context.Context<R>) =>
    Context.makeUnsafe<R>(Context.omit(Tracer.ParentSpan)(context).mapUnsafe)
  )

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
  const { known, url } = yield* listening(input, keys, start.now, upstream)
  const journals = Journals.inPostgres({ url: database, password, lease: "3 seconds" })
  const standby = yield* Standby.make({
    journals,
    admits: (authorization) => Server.holderOf(keys, Credentials.bearerOf(authorization) ?? "") !== null,
    address: Option.getOrElse(input.advertise, () => url),
    activate: Effect.fnUntraced(function* (own) {
      const store = Layer.effect(PopulationStore, SharedStore.make(own))
      const { app } = yield* begin(keys, start, store)
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
