import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Presets } from "@inspo/config"
import { Plan } from "@inspo/analysis"
import { Effect, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Summary } from "../../apps/cli/src/report/Summary.ts"
import { readRun } from "../../apps/cli/src/runDirectory/Read.ts"
import { assertToldInOneParagraph, endAll, inspo, testTimeout, sets } from "./Inspo.ts"
import { tinyRun, writeTinyModel } from "./TinyModel.ts"

let cwd = ""
const decodePlan = Schema.decodeSync(Schema.fromJsonString(Plan.Plan))
const decodeSummary = Schema.decodeSync(Schema.fromJsonString(Summary))

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-plan-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
  await mkdir(join(cwd, "corrupt"))
  await writeFile(join(cwd, "corrupt/config.json"), JSON.stringify(Presets.quick))
  await writeFile(join(cwd, "corrupt/journal.sqlite"), "no longer a journal")
})

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

const small = [
  ...tinyRun,
  ...sets(
    "schedule.steps=8",
    "schedule.evolveEvery=4",
    "schedule.evolveUntil=6",
    "verification.samples=3",
    "selection.rounds=2",
    "data.world.questions=30",
    "evaluation.questions=2"
  )
]

describe("a plan", { timeout: testTimeout, tags: "runs" }, () => {
  it("bounds what its run spends", async () => {
    const planned = await inspo(["plan", "--json", ...small], { cwd })
    assert.strictEqual(planned.code, 0, planned.stderr)
    assert.match(planned.stdout, /^[^\n]+\n$/u)
    const plan = decodePlan(planned.stdout)

    const finished = await inspo(["run", "--json", "--quiet", "--no-baseline", "--out", "one", ...small], { cwd })
    assert.strictEqual(finished.code, 0, finished.stderr)
    const { bestInstruction, rollouts, seedInstruction, steps } = decodeSummary(finished.stdout)
    const { events } = await Effect.runPromise(readRun(join(cwd, "one")).pipe(Effect.provide(NodeServices.layer)))
    const calls = 1 + events.filter(({ _tag }) => _tag === "CandidatesProposed").length
    assert.strictEqual(steps, plan.steps)
    assert.strictEqual(rollouts.train, plan.rollouts.train)
    // The plan counts four cells of the final table, of which two are one when the seed stays the best.
    const cells = bestInstruction.id === seedInstruction.id ? 2 : 4
    assert.strictEqual(rollouts.evaluation, plan.rollouts.evaluation - 2 * (4 - cells))
    for (const [spent, { max, min }] of [
      [rollouts.verification, plan.bounds.verification],
      [calls, plan.bounds.proposerCalls]
    ] as const)
      assert.isTrue(min <= spent && spent <= max, `${spent} in [${min}, ${max}]`)
  })

  it("reads as lines of at most 80 characters", async () => {
    const { code, stdout } = await inspo(["plan", "--preset", "paper"], { cwd })
    assert.strictEqual(code, 0)
    assert.include(stdout, "768,000")
    assert.include(stdout, "9, after step 15, 30, 45, 60, 75, 90, 105, 120, 135")
    assert.include(stdout, "Warning: Pruning is below its resolution")
    for (const line of stdout.split("\n")) assert.isAtMost(line.length, 80, line)
  })
})

describe("bad input", { timeout: testTimeout, tags: "runs" }, () => {
  it.each([
    ["an unknown key to plan", ["plan", "--set", "schedule.step=3"], 2, "Did you mean schedule.steps?"],
    ["what no machine does", ["plan", "--set", "schedule.steps=1000000000"], 2, "between 1 and 1000000"],
    ["no run", ["replay", "nowhere"], 1, "nowhere"],
    ["a corrupt journal", ["replay", "corrupt"], 1, "journal.sqlite"]
  ])("%s is told in one paragraph", async (_, args, code, part) => {
    const finished = await inspo([...args], { cwd })
    assertToldInOneParagraph(finished, code, part)
    assert.strictEqual(finished.stdout, "")
  })
})
