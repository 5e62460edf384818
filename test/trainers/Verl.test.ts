import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll } from "../cli/Inspo.ts"
import * as Foreign from "./support/Foreign.ts"
import * as Laws from "./support/Laws.ts"
import * as Programs from "./support/Programs.ts"
import { checkThroughKill } from "./support/Resumed.ts"
import * as World from "./support/World.ts"

const cohorts = 32

describe.skipIf(Foreign.problem !== null)(
  `verl's trainer ${Foreign.problem ?? ""}`,
  { timeout: Programs.testTimeout },
  () => {
    let cwd = ""
    let world: World.World

    beforeAll(async () => {
      cwd = await mkdtemp(join(tmpdir(), "inspo-verl-trainer-"))
      world = await World.start(cwd)
    }, Programs.testTimeout)

    afterAll(async () => {
      Programs.endAll()
      await world.stop()
      endAll()
      await rm(cwd, { recursive: true, force: true })
    })

    it.each([
      ["sync", "policy", undefined],
      ["colocate_async", "asynchronous", { least: 1, most: 5 }]
    ])(
      "samples through a kill -9 of the trainer %s, and the population finds the best",
      async (mode, population, ahead) => {
        if (population !== "policy") await World.make(world.url, population)
        const folder = await mkdtemp(join(cwd, "trainer-"))
        const start = (attempt: string) =>
          Programs.start(
            World.script("verl_run.py"),
            [world.url, folder, attempt, String(cohorts), population, mode],
            folder
          )
        const checkpointed = join(folder, "checkpoints", "latest_checkpointed_iteration.txt")
        await checkThroughKill({
          start,
          logs: [join(folder, "log-0.jsonl")],
          resumesAt: async () => Number(await readFile(checkpointed, "utf8")),
          url: world.url,
          population,
          cohorts,
          ...(ahead === undefined ? {} : { ahead })
        })
        const validated = await Laws.readLog(join(folder, "validation-0.jsonl"))
        assert.lengthOf(validated, 20, "five questions twice, at two steps")
        assert.strictEqual(validated.at(-1)?.instruction, World.best, "what is validated in the end is the incumbent")
      }
    )

    it("gets no reward of a failed sample, and stops if agent loops score themselves", async () => {
      await World.make(world.url, "flawed")
      const folder = await mkdtemp(join(cwd, "flawed-"))
      const args = [world.url, folder, "one", "4", "flawed", "sync", "Flawed"]
      const output = await Programs.start(World.script("verl_run.py"), args, cwd).ended().then(String, String)
      assert.include(output, "no sample was scored; expected agent loops that leave scoring to verl's reward workers")
      const rows = await Laws.readLog(join(folder, "log-0.jsonl"))
      assert.lengthOf(rows, 31, "all samples of the first step but one")
      assert.lengthOf((await Laws.foldedRewards(world.url, "flawed")).flat(), 31)
    })

    it("has the documented manager, and refuses rewards after sampling", async () => {
      await (await Programs.startPrinted("InstructedManager", {}, cwd)).ended()
      const said = await Programs.start(World.script("verl_printed.py"), [], cwd).ended()
      assert.include(said, "Instructed policy")
      assert.include(said, "reward.reward_model.enable_resource_pool is False; expected True")
    })
  }
)
