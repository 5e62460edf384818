import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { resume, start, undisturbedRun } from "./support/Chain.ts"
import { eventsOf, outcomeOf, type Outcome } from "./support/Outcome.ts"
import { begin, endAll, type Ended } from "./support/Program.ts"

const wanted = process.env["INSPO_DISK_FULL"] !== undefined
const cwd = wanted ? mkdtempSync(join(tmpdir(), "inspo-permission-")) : ""
let undisturbed: Outcome

/** Permissions do not bind root, so the program then runs as nobody. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

const asUser = (args: ReadonlyArray<string>): Promise<Ended> => begin(args, cwd, undefined, undefined, nobody).ended

/** Why no other user can run the program here, or null. */
const problem = await (async () => {
  if (!wanted) return "not asked for with INSPO_DISK_FULL"
  if (nobody !== undefined) chownSync(cwd, nobody.uid, nobody.gid)
  const { code } = await asUser(["--version"])
  return code === 0 ? null : "another user than root cannot read the program"
})()

beforeAll(async () => {
  if (problem !== null) return
  undisturbed = await undisturbedRun(cwd, "undisturbed")
}, 120_000)

afterAll(() => {
  endAll()
  if (wanted) rmSync(cwd, { recursive: true, force: true })
})

describe.skipIf(problem !== null)(`a run that loses a permission${problem === null ? "" : `: ${problem}`}`, () => {
  it.each([
    ["its directory", "run", [".", "checkpoints"]],
    ["its checkpoints", "checkpoints", ["checkpoints"]]
  ])("on %s stops with an error that names it, and loses nothing", { timeout: 240_000 }, async (_, name, folders) => {
    const allow = (mode: number) => {
      for (const folder of folders) chmodSync(join(cwd, name, folder), mode)
    }
    const running = asUser(start(name))
    while ((await eventsOf(join(cwd, name))).length < 8) await wait(20)
    allow(0o555)
    const stopped = await running
    const acknowledged = await eventsOf(join(cwd, name))
    const refused = await asUser(resume(name))
    for (const ended of [stopped, refused]) {
      assert.strictEqual(ended.code, 1, ended.stderr)
      assert.match(ended.stderr, new RegExp(`^inspo: [^\\n]*${name}/[^\\n]*\\n$`, "u"))
      assert.match(ended.stderr, /permission ?denied.*Let this user read and write there/isu)
    }
    allow(0o755)
    const resumed = await asUser(resume(name))
    assert.strictEqual(resumed.code, 0, resumed.stderr)
    const outcome = await outcomeOf(join(cwd, name))
    assert.deepStrictEqual(outcome, undisturbed)
    assert.isAtLeast(outcome.events.length, acknowledged.length)
  })
})
