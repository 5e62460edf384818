import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertToldInOneParagraph, endAll, inspo, testTimeout, sets } from "./Inspo.ts"
import { tinyRun, writeTinyModel } from "./TinyModel.ts"

const steps = 6
const flags = [
  ...tinyRun,
  ...sets(`schedule.steps=${steps}`, "checkpoint.every=2", "checkpoint.keep=1", "evaluation.select=last")
]
let cwd = ""

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-fork-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
  const made = await inspo(["run", "--no-baseline", "--quiet", "--out", "run", ...flags], { cwd })
  assert.strictEqual(made.code, 0, made.stderr)
}, testTimeout)

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

describe("a branch of a finished run", { timeout: testTimeout, tags: "runs" }, () => {
  it.each(Array.from({ length: steps + 1 }, (_, at) => at))(
    "leaves it after step %i, whichever checkpoints are still there, and replays",
    async (at) => {
      const out = `at-${at}`
      const args = ["resume", "run", "--at", String(at), "--out", out, "--no-baseline", "--quiet"]
      const forked = await inspo([...args, ...sets("selection.temperature=1")], { cwd })
      assert.strictEqual(forked.code, 0, forked.stderr)
      const replayed = await inspo(["replay", out], { cwd })
      assert.strictEqual(replayed.code, 0, replayed.stderr)
    }
  )

  it("that changes nothing comes to the same result, trained again from the last checkpoint that is there", async () => {
    const forked = await inspo(["resume", "run", "--at", "4", "--out", "same", "--no-baseline", "--quiet"], { cwd })
    assert.strictEqual(forked.code, 0, forked.stderr)
    const refused = await inspo(
      ["resume", "run", "--at", "4", "--out", "other", "--quiet", ...sets("checkpoint.every=3")],
      { cwd }
    )
    assertToldInOneParagraph(refused, 2, "checkpoint.every")
    const metrics = (name: string) => readFile(join(cwd, name, "metrics.jsonl"), "utf8")
    assert.strictEqual(await metrics("same"), await metrics("run"))
    const lineage = await inspo(["show", "run", "same", "--lineage", "--json"], { cwd })
    assert.include(lineage.stdout, '"parent":"run"')
  })

  it("leaves it after no step during whose update the next one was sampled, and says so", async () => {
    const args = ["run", "--no-baseline", "--quiet", "--out", "stale", ...flags]
    const made = await inspo([...args, ...sets("train.staleness=1", "schedule.pruneEvery=2")], { cwd })
    assert.strictEqual(made.code, 0, made.stderr)
    const branch = (at: number) =>
      inspo(["resume", "stale", "--at", String(at), "--out", `stale-${at}`, "--no-baseline", "--quiet"], { cwd })
    assertToldInOneParagraph(await branch(3), 2, "train.staleness")
    const forked = await branch(4)
    assert.strictEqual(forked.code, 0, forked.stderr)
    assert.strictEqual((await inspo(["replay", "stale-4"], { cwd })).code, 0)
  })

  it.each([
    ["groups", ["rollout.instructionsPerQuestion=2"]],
    ["samples", ["rollout.instructionsPerQuestion=samples", "train.advantage=centred"]]
  ])("ends with the same result where instructions share questions: %s", async (name, sharing) => {
    const made = await inspo(["run", "--no-baseline", "--quiet", "--out", name, ...flags, ...sets(...sharing)], { cwd })
    assert.strictEqual(made.code, 0, made.stderr)
    const forked = await inspo(["resume", name, "--at", "3", "--out", `${name}-fork`, "--no-baseline", "--quiet"], {
      cwd
    })
    assert.strictEqual(forked.code, 0, forked.stderr)
    const metrics = (run: string) => readFile(join(cwd, run, "metrics.jsonl"), "utf8")
    assert.strictEqual(await metrics(`${name}-fork`), await metrics(name))
    const replayed = await inspo(["replay", `${name}-fork`], { cwd })
    assert.strictEqual(replayed.code, 0, replayed.stderr)
  })
})
