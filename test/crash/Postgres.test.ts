import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as PostgresServer from "../../packages/journal/test/support/PostgresServer.ts"
import { resume, start, undisturbedRun } from "./support/Chain.ts"
import { eventsOf, outcomeOf, type Outcome } from "./support/Outcome.ts"
import { begin, endAll, inspo } from "./support/Program.ts"

const wanted = process.env["INSPO_POSTGRES"] !== undefined
const problem = wanted ? PostgresServer.unavailable : "not asked for with INSPO_POSTGRES"

/** After so long another may take over from a writer that went silent. */
const leaseSeconds = 30

let cwd = ""
let server: PostgresServer.PostgresServer
let undisturbed: Outcome

const settings = () => [`journal.url=${server.url}`]

/** What a run on another journal has in common with the undisturbed one: everything but the name of its journal. */
const shared = ({ events, ...outcome }: Outcome) => ({ ...outcome, events: events.slice(1) })

beforeAll(async () => {
  if (problem !== null) return
  server = await PostgresServer.start()
  cwd = await mkdtemp(join(tmpdir(), "inspo-postgres-"))
  undisturbed = await undisturbedRun(cwd, "undisturbed")
}, 120_000)

afterAll(async () => {
  endAll()
  if (problem !== null) return
  await server.stop()
  await rm(cwd, { recursive: true, force: true })
})

describe.skipIf(problem !== null)(`a run in PostgreSQL${problem === null ? "" : `: ${problem}`}`, () => {
  it(
    "that is killed is shown, resumed at once to the document of a run in a file, and replayed",
    {
      timeout: 120_000
    },
    async () => {
      const killed = await inspo(start("killed", ...settings()), cwd, { at: "checkpoint:4" })
      assert.isTrue(killed.killed, killed.stderr)
      const shown = await inspo(["show", "killed", "--json"], cwd)
      assert.strictEqual(shown.code, 0, shown.stderr)
      const { steps } = JSON.parse(shown.stdout)
      assert.isBelow(steps, 4)
      const resumed = await inspo(resume("killed"), cwd)
      assert.strictEqual(resumed.code, 0, resumed.stderr)
      assert.deepStrictEqual(shared(await outcomeOf(join(cwd, "killed"))), shared(undisturbed))
      const replayed = await inspo(["replay", "killed", "--json"], cwd)
      assert.strictEqual(replayed.code, 0, replayed.stderr)
      assert.strictEqual(JSON.parse(replayed.stdout).stateHash, undisturbed.stateHash)
    }
  )

  it(
    "has one writer: another is refused while it lives, and takes over once it is silent, which ends it",
    {
      timeout: 120_000
    },
    async () => {
      // So long that it is still at work when the second one has come and gone.
      const long = "schedule.steps=24"
      const expected = await undisturbedRun(cwd, "undisturbed-long", long)
      const first = begin(start("frozen", long, ...settings()), cwd)
      while ((await eventsOf(join(cwd, "frozen"))).length === 0) await wait(20)
      const second = await inspo(resume("frozen"), cwd)
      assert.strictEqual(second.code, 1, second.stderr)
      assert.match(second.stderr, /^inspo: [^\n]*another run is writing[^\n]*\n$/u)
      first.send("SIGSTOP")
      await wait(1000 * leaseSeconds)
      const standby = await inspo(resume("frozen"), cwd)
      assert.strictEqual(standby.code, 0, standby.stderr)
      first.send("SIGCONT")
      const fenced = await first.ended
      assert.strictEqual(fenced.code, 1, fenced.stderr)
      // It may have been frozen in the middle of a file, which the one that took over has cleared away or put in its place.
      assert.match(fenced.stderr, /another run took over|when the database is there|engine save|spent\.json/u)
      assert.deepStrictEqual(shared(await outcomeOf(join(cwd, "frozen"))), shared(expected))
    }
  )
})
