import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import * as Server from "@inspo/serve/http/Server"
import * as Routes from "./support/Routes.ts"

const hash = (key: string) => createHash("sha256").update(key).digest("hex")

const Key = Schema.Literals(["red", "green", "blue", "grey"])
const Named = Schema.Record(
  Schema.String.check(Schema.isPattern(/^[a-d]$/u)),
  Schema.Tuple([Server.NamedKey.fields.scope, Key])
)

describe("the keys of a server", () => {
  it.prop(
    "are those of its environment, then the named ones as they are now, each with its scope",
    [Schema.UndefinedOr(Key), Schema.UndefinedOr(Key), Schema.Array(Named).check(Schema.isMinLength(1)), Key],
    ([admin, lease, times, given]) => {
      let now: Readonly<Record<string, Server.NamedKey>> = {}
      const keys: Server.Keys = {
        ...(admin === undefined ? {} : { admin: Redacted.make(admin) }),
        ...(lease === undefined ? {} : { lease: Redacted.make(lease) }),
        named: () => now
      }
      for (const named of times) {
        now = Object.fromEntries(
          Object.entries(named).map(([name, [scope, key]]) => [name, { scope, sha256: hash(key) }])
        )
        const all = [
          ...(admin === undefined ? [["none", "admin", given] as const] : []),
          ...(admin === undefined ? [] : [["admin", "admin", admin] as const]),
          ...(lease === undefined ? [] : [["lease", "lease", lease] as const]),
          ...Object.entries(named).map(([name, [scope, key]]) => [name, scope, key] as const)
        ]
        const [name, scope] = all.find(([, , key]) => key === given) ?? []
        assert.deepStrictEqual(Server.holderOf(keys, given), name === undefined ? null : { name, scope })
      }
    }
  )

  it.effect("allow what their scope allows, from the moment they are named until they are not", () =>
    Effect.gen(function* () {
      let now: Readonly<Record<string, Server.NamedKey>> = {}
      const ask = yield* Routes.make({ admin: Redacted.make("root"), named: () => now })
      const statuses = Effect.fnUntraced(function* (key: string) {
        const headers = { authorization: `Bearer ${key}` }
        const body = { requests: [{ key: "k" }] }
        const leased = yield* ask("POST", "/v1/populations/support/leases", body, headers)
        return [leased.status, (yield* ask("POST", "/v1/populations/support/freeze", undefined, headers)).status]
      })
      yield* ask("PUT", "/v1/populations/support", { seed: "Be brief." }, { authorization: "Bearer root" })
      assert.deepStrictEqual(yield* statuses("own"), [401, 401])
      now = { own: { scope: "lease", sha256: hash("own") } }
      assert.deepStrictEqual(yield* statuses("own"), [200, 403])
      now = { own: { scope: "admin", sha256: hash("own") } }
      assert.deepStrictEqual(yield* statuses("own"), [200, 200])
      now = {}
      assert.deepStrictEqual(yield* statuses("own"), [401, 401])
    }).pipe(Effect.scoped)
  )
})
