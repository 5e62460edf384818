import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll } from "../cli/Inspo.ts"
import * as Foreign from "./support/Foreign.ts"
import * as Laws from "./support/Laws.ts"
import * as Programs from "./support/Programs.ts"
import { checkThroughKill } from "./support/Resumed.ts"
import * as World from "./support/World.ts"

/** Optimizer steps in a generation batch, as `trl_run.py` has them. */
const stepsPerCohort = 2
const cohorts = 24

describe.skipIf(Foreign.problem !== null)(
  `TRL's GRPOTrainer ${Foreign.problem ?? ""}`,
  { timeout: Programs.testTimeout },
  () => {
    let cwd = ""
    let world: World.World

    beforeAll(async () => {
      cwd = await mkdtemp(join(tmpdir(), "inspo-trl-"))
      await mkdir(join(cwd, "out"))
      world = await World.start(cwd)
    }, Programs.testTimeout)

    afterAll(async () => {
      Programs.endAll()
      await world.stop()
      endAll()
      await rm(cwd, { recursive: true, force: true })
    })

    const log = (rank: number) => join(cwd, `log-${rank}.jsonl`)
    const start = (attempt: string) => {
      const args = [world.url, cwd, attempt, String(cohorts * stepsPerCohort)]
      return Programs.startRanks(2, World.script("trl_run.py"), args, cwd)
    }

    it("trains in two processes, through a kill -9 of both, and the population finds the best", async () => {
      await checkThroughKill({
        start,
        logs: [log(0), log(1)],
        resumesAt: async () => {
          const checkpoints = (await readdir(join(cwd, "out"))).map((name) => Number(name.replace("checkpoint-", "")))
          return Math.floor(Math.max(...checkpoints.filter(Number.isFinite)) / stepsPerCohort)
        },
        url: world.url,
        cohorts
      })
      const validated = await Laws.readLog(join(cwd, "validation-0.jsonl"), join(cwd, "validation-1.jsonl"))
      const last = validated.findLast(({ attempt }) => attempt === "two")
      assert.strictEqual(last?.instruction, World.best, "what is validated in the end is the incumbent")
    })

    it("runs as documented", async () => {
      await World.make(world.url, "printed")
      const model = join(cwd, "model")
      await Programs.start(World.script("tiny_model.py"), [model], cwd).ended()
      const replaced = {
        "http://127.0.0.1:8700": world.url,
        '"policy"': '"printed"',
        "Qwen/Qwen3-0.6B": model,
        'output_dir="out",': 'output_dir="out", use_cpu=True, bf16=False, report_to=[],'
      }
      await (await Programs.startPrinted("GRPOTrainer", replaced, cwd)).ended()
      await Laws.checkLeased(world.url, "printed")
    })
  }
)
