import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startOrResume, Tally, undisturbedRun } from "./support/Chain.ts"
import * as Kills from "./support/Kills.ts"
import { interrupted, outcomeOf, type Outcome } from "./support/Outcome.ts"
import { endAll } from "./support/Program.ts"

/** How often a run is killed: twice here, `INSPO_CRASHES` as often as wanted. */
const crashes = Number(process.env["INSPO_CRASHES"] ?? 2)
/** Kills that one run has to survive. */
const perRun = 6
/** Runs at a time: one waits for its disk while the other computes. */
const concurrency = 2

let cwd = ""

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-crash-"))
})

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

describe.each([
  ["sampling waits for updates", []],
  [
    "the next step is sampled during updates, which are corrected",
    ["train.staleness=1", "schedule.pruneEvery=2", "train.correction=truncate-tokens"]
  ],
  [
    "its agent rewrites the context and rounds are added",
    ["rollout.agent=iter-research", "replay.successes=2", "train.keep=differing", "train.keep.draws=1"]
  ],
  [
    "steps have further rounds, and earlier successes are trained again",
    [
      "rollout.rescue={attempts: 2, members: 1}",
      "replay.successes=2",
      "train.keep={name: differing, draws: 1}",
      "data.world.questions=10"
    ]
  ]
])("a run that is killed at any moment, where %s", { tags: "runs" }, (_, settings) => {
  let undisturbed: Outcome
  beforeAll(async () => {
    undisturbed = await undisturbedRun(cwd, "undisturbed", ...settings)
  }, 120_000)
  afterAll(() => rm(join(cwd, "undisturbed"), { recursive: true }))

  it("ends as if it had not been", { timeout: 900_000 }, async () => {
    const seed = Kills.seedOfThisRun()
    const tally = new Tally()
    let planned = 0
    let runs = 0
    const worker = async () => {
      while (planned < crashes) {
        const run = runs++
        const name = `killed-${run}`
        let left = Math.min(perRun, Math.ceil(crashes / concurrency), crashes - planned)
        planned += left
        for (let attempt = 0; ; attempt++) {
          const kill = left > 0 ? Kills.draw(seed, run, attempt) : undefined
          const ended = await startOrResume(cwd, name, { settings, kill })
          const told = `seed ${seed}, run ${run}, attempt ${attempt}, kill ${JSON.stringify(kill)}`
          if (ended.killed) {
            left -= 1
            for (const moment of Kills.moments(kill, await interrupted(join(cwd, name)))) tally.add(moment)
          } else {
            assert.strictEqual(ended.code, 0, `${told}: ${ended.stderr}`)
            planned -= left
            break
          }
        }
        assert.deepStrictEqual(await outcomeOf(join(cwd, name)), undisturbed, `seed ${seed}, run ${run}`)
        await rm(join(cwd, name), { recursive: true })
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
    process.stdout.write(`${planned} kills in ${runs} runs: ${tally.toString()}\n`)
    if (crashes >= 100) tally.assertAll(Kills.required)
  })
})
