import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, testTimeout } from "../cli/Inspo.ts"
import { noPython } from "../clients/Subject.ts"
import { codeBlocks } from "../packages/support/Example.ts"
import * as Laws from "./support/Laws.ts"
import * as World from "./support/World.ts"

describe.skipIf(noPython !== null)(`a training loop of two ranks ${noPython ?? ""}`, { timeout: testTimeout }, () => {
  let cwd = ""
  let world: World.World

  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "inspo-training-run-"))
    world = await World.start(cwd)
  }, testTimeout)

  afterAll(async () => {
    await world.stop()
    endAll()
    await rm(cwd, { recursive: true, force: true })
  })

  const log = (rank: number) => join(cwd, `log-${rank}.jsonl`)

  /** Runs both ranks from one cohort to another; returns the output of the one that failed. */
  const loop = async (first: number, last: number, attempt: string): Promise<string> => {
    const ranks = [0, 1].map((rank) =>
      python(World.script("loop.py"), world.url, log(rank), ...[rank, 2, first, last].map(String), attempt)
    )
    return (await Promise.all(ranks)).map(({ stderr }) => stderr).join("")
  }

  it("gets the same leases in both, rewards each once, rewinds with the trainer, and finds the best", async () => {
    assert.strictEqual(await loop(0, 6, "one"), "")
    assert.strictEqual(await loop(4, 24, "two"), "")
    await Laws.check(await Laws.readLog(log(0), log(1)), {
      url: world.url,
      attempts: [
        { name: "one", first: 0 },
        { name: "two", first: 4 }
      ],
      cohorts: 24,
      groups: 16,
      n: 2
    })
  })

  it("runs as documented", async () => {
    const printed = codeBlocks(await readFile(World.guide, "utf8"), "python").find((code) =>
      code.includes("def sample(")
    )
    await World.make(world.url, "printed")
    const file = join(cwd, "printed.py")
    await writeFile(file, (printed ?? "").replace("http://127.0.0.1:8700", world.url).replace('"policy"', '"printed"'))
    const [begun, resumed] = [await python(file), await python(file, "2")]
    assert.deepStrictEqual([begun.stderr, resumed.stderr], ["", ""])
    assert.include(begun.stdout, "closed train/2")
    assert.include(resumed.stdout, "closed train/4")
  })

  it("stops if a cohort was trained on before, and reports how to fix it", async () => {
    assert.match(await loop(0, 1, "three"), /Stopped: policy: rewards up to train\/0 were not all accepted \(.*resume/u)
  })
})

const python = async (
  ...args: ReadonlyArray<string>
): Promise<{ readonly stdout: string; readonly stderr: string }> => {
  const child = spawn("python3", args, { env: { ...process.env, PYTHONPATH: World.client } })
  let [stdout, stderr] = ["", ""]
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  await once(child, "close")
  return { stdout, stderr }
}
