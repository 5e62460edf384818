import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { Invariant } from "@inspo/domain"
import type { Journals, PopulationStore } from "@inspo/serve"
import { Journal, JournalError } from "@inspo/journal"
import * as sqlite from "@inspo/journal/sqlite"
import * as SharedStore from "@inspo/serve/store/SharedStore"
import * as Standby from "@inspo/serve/store/Standby"
import { Context, Effect, Exit, Layer, Option, Schema, Scope } from "effect"
import {
  HttpClient,
  HttpClientError,
  HttpClientRequest,
  HttpClientResponse,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { TestClock } from "effect/testing"

const fenced = new JournalError({ reason: "fenced", file: "database", sequence: null, detail: "another took over" })

/** Journals in files of a folder, of which each can be lost. */
const inFolder = (folder: string, losing: Set<() => Effect.Effect<void>>): Journals.Journals => {
  const fileOf = (run: string) => join(folder, `${run}.sqlite`)
  return {
    open: Effect.fnUntraced(function* (run, mode, onLost) {
      const context = yield* Layer.build(Layer.fresh(sqlite.layer({ file: fileOf(run), mode })))
      const lose = () => onLost(fenced)
      losing.add(lose)
      yield* Effect.addFinalizer(() => Effect.sync(() => losing.delete(lose)))
      return Context.get(context, Journal)
    }),
    remove: (run) =>
      Effect.sync(() => {
        for (const end of ["", "-wal", "-shm", ".lock"]) rmSync(`${fileOf(run)}${end}`, { force: true })
      })
  }
}

const Op = Schema.Union([
  Schema.TaggedStruct("Start", { server: Schema.Literals([0, 1, 2]) }),
  Schema.TaggedStruct("Start", { server: Schema.Literals([0, 1, 2]) }),
  Schema.TaggedStruct("Stop", { server: Schema.Literals([0, 1, 2]) }),
  Schema.TaggedStruct("Lose", { server: Schema.Literals([0, 1, 2]) }),
  Schema.TaggedStruct("Make", { name: Schema.Literals(["a", "b"]) }),
  Schema.TaggedStruct("Remove", { name: Schema.Literals(["a", "b"]) }),
  Schema.TaggedStruct("Ask", { server: Schema.Literals([0, 1, 2]) })
])

interface Server {
  readonly standby: Standby.Standby<JournalError>
  readonly scope: Scope.Closeable
  readonly losing: Set<() => Effect.Effect<void>>
}

const addressOf = (server: number) => `http://10.0.0.${server}:8080`

/** Asks the server at an address, as over the network. */
const network = (servers: ReadonlyMap<number, Server>) =>
  HttpClient.make((request, url) => {
    const server = servers.get(Number(url.hostname.split(".").at(-1)))
    return server === undefined
      ? Effect.fail(
          new HttpClientError.HttpClientError({
            reason: new HttpClientError.TransportError({ request, description: "nobody is there" })
          })
        )
      : Effect.map(ask(server, request), (response) => HttpClientResponse.fromWeb(request, response))
  })

const ask = Effect.fnUntraced(function* (
  { standby }: Pick<Server, "standby">,
  request: HttpClientRequest.HttpClientRequest
) {
  const web = yield* Effect.orDie(HttpClientRequest.toWeb(request))
  const answer = yield* Effect.orDie(
    Effect.scoped(
      Effect.provideService(standby.app, HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(web))
    )
  )
  return HttpServerResponse.toWeb(answer)
})

const law = Effect.fnUntraced(function* (folder: string, ops: ReadonlyArray<typeof Op.Type>) {
  const servers = new Map<number, Server>()
  const stores = new Map<number, PopulationStore.Interface>()
  const client = network(servers)

  const start = Effect.fnUntraced(function* (server: number) {
    const scope = yield* Scope.make()
    const losing: Server["losing"] = new Set()
    const standby = yield* Standby.make({
      journals: inFolder(folder, losing),
      address: addressOf(server),
      activate: Effect.fnUntraced(function* (own) {
        stores.set(server, yield* SharedStore.make(own))
        return Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) =>
          HttpServerResponse.jsonUnsafe({ server, url })
        )
      })
    }).pipe(Effect.provideService(HttpClient.HttpClient, client), Scope.provide(scope))
    servers.set(server, { standby, scope, losing })
  })

  const active = Effect.gen(function* () {
    const found: Array<number> = []
    for (const [server, { standby }] of servers) if ((yield* standby.role)._tag === "Active") found.push(server)
    assert.isAtMost(found.length, 1)
    return Option.fromUndefinedOr(found[0])
  })

  /** The active server, once all others know it. */
  const settled = Effect.gen(function* () {
    for (let looks = 0; looks < 1000; looks++) {
      yield* TestClock.adjust("500 millis")
      // A disk takes its time, which no test clock moves.
      yield* Effect.promise(() => wait(5))
      const found = yield* active
      if (Option.isNone(found)) continue
      const roles = yield* Effect.forEach([...servers.values()], ({ standby }) => standby.role)
      if (roles.every((role) => role._tag === "Active" || role.active === addressOf(found.value))) return found.value
    }
    return assert.fail("nobody became active, or some do not know who is")
  })

  const made = new Set<string>()
  for (const op of ops) {
    switch (op._tag) {
      case "Start":
        if (!servers.has(op.server)) yield* start(op.server)
        break
      case "Stop": {
        const { scope } = servers.get(op.server) ?? {}
        if (scope !== undefined) yield* Scope.close(scope, Exit.void)
        servers.delete(op.server)
        break
      }
      case "Lose":
        for (const lose of servers.get(op.server)?.losing ?? []) yield* lose()
        break
      case "Make":
      case "Remove": {
        if (servers.size === 0) break
        const store = Invariant.get(stores, yield* settled, "the store of the active server")
        if (op._tag === "Remove") {
          yield* store.remove(op.name)
          made.delete(op.name)
          break
        }
        const result = yield* Effect.result(Effect.scoped(store.make(op.name)))
        assert.strictEqual(result._tag, made.has(op.name) ? "Failure" : "Success")
        made.add(op.name)
        break
      }
      case "Ask": {
        const asked = servers.get(op.server)
        if (asked === undefined) break
        const expected = yield* settled
        const answer = yield* ask(asked, HttpClientRequest.get("http://inspo/v1/populations?of=all"))
        assert.deepStrictEqual(yield* Effect.promise(() => answer.json()), {
          server: expected,
          url: "/v1/populations?of=all"
        })
        assert.sameMembers(
          [...(yield* Invariant.get(stores, expected, "the store of the active server").names)],
          [...made]
        )
      }
    }
    yield* active
  }
  for (const { scope } of servers.values()) yield* Scope.close(scope, Exit.void)
})

describe("Standby", () => {
  it.effect("shows its metrics to holders of a key alone", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "inspo-standby-"))),
        (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
      )
      const standby = yield* Standby.make({
        journals: inFolder(folder, new Set()),
        address: addressOf(0),
        admits: (authorization) => authorization === "Bearer lease",
        activate: () => Effect.succeed(Effect.succeed(HttpServerResponse.empty()))
      }).pipe(Effect.provideService(HttpClient.HttpClient, network(new Map())))
      const status = (path: string, headers: Record<string, string> = {}) =>
        Effect.map(
          ask({ standby }, HttpClientRequest.get(`${addressOf(0)}${path}`, { headers })),
          (answer) => answer.status
        )
      assert.strictEqual(yield* status("/metrics"), 401)
      assert.strictEqual(yield* status("/metrics", { authorization: "Bearer guess" }), 401)
      assert.strictEqual(yield* status("/metrics", { authorization: "Bearer lease" }), 200)
      for (const path of ["/healthz", "/readyz"]) assert.strictEqual(yield* status(path), 200)
    }).pipe(Effect.scoped)
  )

  it.effect.prop(
    "one of all running servers is active, the others forward requests to it, and no population is lost",
    [Schema.Array(Op).check(Schema.isMinLength(20), Schema.isMaxLength(40))],
    ([ops]) =>
      Effect.acquireUseRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "inspo-standby-"))),
        (folder) => law(folder, ops),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      ),
    { arbitrary: { runs: 8 }, timeout: 120_000 }
  )
})
