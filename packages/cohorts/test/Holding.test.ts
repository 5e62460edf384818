import { assert, describe, it } from "@effect/vitest"
import { Settings } from "@inspo/cohorts"
import { Server } from "./support/Server.ts"

describe("a cohort too many", () => {
  it("is refused with the name of the cohort that those after it wait for", () => {
    const server = new Server(Settings.trainer(1), ["seed", "variant"])
    server.state = { ...server.state, limits: { ...server.state.limits, openCohorts: 2 } }
    server.lease(0, ["k"], "first/0")
    server.lease(0, ["l"], "first/1")
    assert.throws(() => server.lease(0, ["m"], "first/2"), /Close first\/0, which those after it wait for/u)
  })
})
