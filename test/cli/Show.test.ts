import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertToldInOneParagraph, endAll, inspo, sets, testTimeout } from "./Inspo.ts"
import { tinyRun, writeTinyModel } from "./TinyModel.ts"

let cwd = ""

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-show-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
  const { code, stderr } = await inspo(["run", "--out", "run", "--no-baseline", ...tinyRun], { cwd })
  assert.strictEqual(code, 0, stderr)
}, testTimeout)

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

describe("inspo show and its neighbours", { timeout: testTimeout, tags: "runs" }, () => {
  it("shows one instruction, and says when two names mean the same one", async () => {
    const one = await inspo(["show", "run:i0"], { cwd })
    assert.strictEqual(one.code, 0, one.stderr)
    assert.match(one.stdout, /^run:i0\n {2}\S/u)
    const { kind, name, text } = JSON.parse((await inspo(["show", "run:seed", "--json"], { cwd })).stdout)
    assert.deepStrictEqual([kind, name], ["instruction", "run:i0"])
    assert.include(one.stdout.replaceAll(/\s+/gu, " "), text.split(" ").slice(0, 4).join(" "))
    assertToldInOneParagraph(await inspo(["show", "run:i99"], { cwd }), 2, "expected seed, best or one of i0")

    const same = await inspo(["show", "run:seed", "run:i0"], { cwd })
    assert.strictEqual(same.stdout, "run:i0 is both: there is one instruction, and nothing to compare.\n")
  })

  it("leaves the baseline out where the budget is too small for both, and trains it under a larger one", async () => {
    const { ledger } = JSON.parse((await inspo(["show", "run", "--json"], { cwd })).stdout)
    const cap = (rollouts: number) => sets(`budget.rollouts=${rollouts}`)
    const capped = ["run", "--out", "capped", "--json", ...tinyRun, ...cap(ledger.total.rollouts + 1)]
    const { baseline, degradations } = JSON.parse((await inspo(capped, { cwd })).stdout)
    assert.isNull(baseline)
    assert.include(degradations[0].message, `too little of budget.rollouts, ${ledger.total.rollouts + 1},`)
    const raised = await inspo(["resume", "capped", "--json", ...cap(3 * ledger.total.rollouts)], { cwd })
    const { degraded, ...found } = JSON.parse(raised.stdout)
    assert.deepStrictEqual([found.baseline.source, degraded], ["run", false])
  })

  it("names the setting that an unknown flag means", async () => {
    const { code, stderr } = await inspo(["run", "--steps", "5"], { cwd })
    assert.strictEqual(code, 2)
    assert.include(stderr, "--set schedule.steps=VALUE")
    assert.notInclude((await inspo(["show", "run", "--steps", "5"], { cwd })).stderr, "--set")
  })

  it("does not advise to resume where an export finds other files", async () => {
    const full = await inspo(["export", "run", "--out", "model"], { cwd })
    assertToldInOneParagraph(full, 2, "--out is model, which is not empty")
    assert.notInclude(full.stderr, "resume")
  })
})
