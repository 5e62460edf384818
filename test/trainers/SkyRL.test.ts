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
  `SkyRL's trainer ${Foreign.problem ?? ""}`,
  { timeout: Programs.testTimeout },
  () => {
    let cwd = ""
    let world: World.World

    beforeAll(async () => {
      cwd = await mkdtemp(join(tmpdir(), "inspo-skyrl-trainer-"))
      world = await World.start(cwd)
    }, Programs.testTimeout)

    afterAll(async () => {
      Programs.endAll()
      await world.stop()
      endAll()
      await rm(cwd, { recursive: true, force: true })
    })

    it.each([
      ["trainer", "policy", [], undefined],
      ["fully asynchronous trainer", "asynchronous", ["async"], { least: 2, most: 6 }]
    ])("samples through a kill -9 of its %s, and the population finds the best", async (_, population, mode, ahead) => {
      if (population !== "policy") await World.make(world.url, population)
      const folder = await mkdtemp(join(cwd, "trainer-"))
      const start = (attempt: string) =>
        Programs.start(
          World.script("skyrl_run.py"),
          [world.url, folder, attempt, String(cohorts), population, ...mode],
          folder
        )
      await checkThroughKill({
        start,
        logs: [join(folder, "log-0.jsonl")],
        resumesAt: async () => Number(await readFile(join(folder, "checkpoint"), "utf8")),
        url: world.url,
        population,
        cohorts,
        ...(ahead === undefined ? {} : { ahead })
      })
      const validated = await Laws.readLog(join(folder, "validation-0.jsonl"))
      assert.strictEqual(validated.at(-1)?.instruction, World.best, "what is validated in the end is the incumbent")
    })

    it("has the documented entrypoint", async () => {
      await (await Programs.startPrinted("BasePPOExp", {}, cwd)).ended()
      const wrapped = await Programs.start(World.script("skyrl_printed.py"), [], cwd).ended()
      assert.include(wrapped, "InstructedGenerator around SkyRLGymGenerator")
    })
  }
)
