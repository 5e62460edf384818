import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ModelFolder } from "@inspo/engine-local"
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspoServer } from "../cli/Inspo.ts"
import * as Foreign from "./support/Foreign.ts"
import * as Laws from "./support/Laws.ts"
import * as Programs from "./support/Programs.ts"
import * as World from "./support/World.ts"

const decodeEngine = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ url: Schema.String })))
const decodeCheckpoint = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ batch: Schema.Int })))
const decodeStep = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ step: Schema.Int, "env/all/reward/total": Schema.optionalKey(Schema.Finite) }))
)

const decodeShown = Schema.decodeUnknownSync(
  Schema.Struct({
    members: Schema.Array(Schema.Struct({ estimate: Schema.Struct({ samples: Schema.Int }) })),
    cohorts: Schema.Array(Schema.Json),
    leases: Schema.Struct({ given: Schema.Int })
  })
)

const lines = async (file: string): Promise<ReadonlyArray<string>> =>
  (await readFile(file, "utf8")).trimEnd().split("\n")

describe.skipIf(Foreign.problem !== null)(`tinker-cookbook (${Foreign.problem ?? "both of our servers"})`, () => {
  let cwd = ""
  let world: World.World
  let engine = ""

  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "inspo-cookbook-"))
    world = await World.start(cwd)
    const args = ["engine", "serve", "--port", "0", "--name", ModelFolder.shipped, "--json"]
    engine = decodeEngine((await inspoServer(args, { cwd })).ready).url
  }, Programs.testTimeout)

  afterAll(async () => {
    Programs.endAll()
    await world.stop()
    endAll()
    await rm(cwd, { recursive: true, force: true })
  })

  it(
    "trains with each group under one instruction, in two processes and in one, resumed after kill -9",
    { timeout: Programs.testTimeout },
    async () => {
      const [log, folder] = [join(cwd, "log.jsonl"), join(cwd, "training")]
      const train = (attempt: string, workers: number) =>
        Programs.start(
          World.script("cookbook.py"),
          [world.url, engine, ModelFolder.shipped, folder, log, attempt, String(workers), "24"],
          cwd
        )
      await train("one", 2).killedAt(log, '"cohort": 5,')
      const [checkpoint = ""] = (await lines(join(folder, "checkpoints.jsonl"))).slice(-1)
      const first = decodeCheckpoint(checkpoint).batch
      assert.isAbove(first, 0)
      await train("two", 0).ended()

      const rows = await Laws.readLog(log)
      assert.isAbove(new Set(rows.filter(({ attempt }) => attempt === "one").map(({ rank }) => rank)).size, 1)
      await Laws.check(rows, {
        url: world.url,
        attempts: [
          { name: "one", first: 0 },
          { name: "two", first }
        ],
        cohorts: 24,
        groups: 16,
        n: 2
      })
      const validated = await Laws.readLog(`${log}.validation`)
      assert.strictEqual(validated.at(-1)?.instruction, World.best, "what is validated in the end is the incumbent")
      for (const line of await lines(join(folder, "metrics.jsonl"))) {
        const { "env/all/reward/total": mean, step } = decodeStep(line)
        const own = rows.filter(
          ({ attempt, cohort }) => cohort === step && attempt === (cohort < first ? "one" : "two")
        )
        if (mean !== undefined)
          assert.closeTo(mean, own.reduce((sum, { value }) => sum + value, 0) / own.length, 1e-6, `step ${step}`)
      }
    }
  )

  it(
    "rewards a group that was tried again, fails one that broke, and refuses a batch that comes twice",
    {
      timeout: Programs.testTimeout
    },
    async () => {
      await World.make(world.url, "broken")
      const output = await Programs.start(World.script("broken.py"), [world.url, "broken"], cwd).ended()
      assert.include(output, '[[1.0, 1.0], [1.0, 1.0], "the sandbox is gone"]')
      assert.include(output, "batch 0 comes after 0; expected a later one")
      const shown = decodeShown(await (await fetch(`${world.url}/v1/populations/broken`)).json())
      const samples = shown.members.reduce((sum, { estimate }) => sum + estimate.samples, 0)
      assert.deepStrictEqual([shown.cohorts, shown.leases.given, samples], [[], 3, 4])
    }
  )

  it("runs as documented", { timeout: Programs.testTimeout }, async () => {
    const made = await fetch(`${world.url}/v1/populations/printed`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ profile: "trainer", seed: World.seed, settings: { rewardRange: [-0.1, 1] } })
    })
    assert.isTrue(made.ok)
    const replaced = {
      "http://127.0.0.1:8700": world.url,
      "http://127.0.0.1:8000": engine,
      "Qwen/Qwen3-0.6B": ModelFolder.shipped,
      '"policy"': '"printed"'
    }
    await (await Programs.startPrinted("train.Config(", replaced, cwd)).ended()
    const shown: unknown = await (await fetch(`${world.url}/v1/populations/printed`)).json()
    assert.deepInclude(shown, { cohorts: [], leases: { given: 6, open: 0, overdue: 0, lost: 0 } })
  })
})
