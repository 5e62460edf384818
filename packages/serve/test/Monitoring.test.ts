import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Standby from "../src/store/Standby.ts"
import * as Routes from "./support/Routes.ts"

const namesIn = (text: string): ReadonlySet<string> =>
  new Set(Array.from(text.matchAll(/\binspo_[a-z_]+/gu), ([name]) => name.replace(/_bucket$/u, "")))
const deployed = (file: string) => namesIn(readFileSync(new URL(`../../../deploy/${file}`, import.meta.url), "utf8"))

describe("monitoring", () => {
  it.effect("of the dashboard has each metric of a server, and alerts have no others", () =>
    Effect.gen(function* () {
      const ask = yield* Routes.make()
      yield* ask("PUT", "/v1/populations/support", { seed: "Be brief." })
      const { body } = yield* ask("POST", "/v1/populations/support/leases", { requests: [{ key: "a" }] })
      const [, lease = ""] = /"lease":"([^"]+)"/u.exec(JSON.stringify(body)) ?? []
      yield* ask("POST", "/v1/populations/support/rewards", { rewards: [{ lease, value: 1 }] })
      const metrics = (yield* ask("GET", "/metrics")).body
      const text = metrics instanceof Uint8Array ? new TextDecoder().decode(metrics) : ""
      // Only servers with a standby have it.
      const listed = Array.from(text.matchAll(/^# TYPE (inspo_\w+)/gmu), ([, name = ""]) => name)
      const known = new Set([Standby.isActive.id, ...listed])
      assert.deepStrictEqual([...deployed("grafana.json")].toSorted(), [...known].toSorted())
      assert.includeMembers([...known], [...deployed("alerts.yml")])
    }).pipe(Effect.scoped)
  )
})
