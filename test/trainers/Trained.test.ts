import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Foreign from "./support/Foreign.ts"
import * as Programs from "./support/Programs.ts"
import * as World from "./support/World.ts"

const study = fileURLToPath(new URL("../../research/studies/model/trained.ts", import.meta.url))
const steps = 7

describe.skipIf(Foreign.problem !== null)(
  `the trained study ${Foreign.problem ?? ""}`,
  { timeout: Programs.testTimeout },
  () => {
    let cwd = ""
    beforeAll(async () => {
      cwd = await mkdtemp(join(tmpdir(), "inspo-trained-"))
    })
    afterAll(() => {
      Programs.endAll()
      return rm(cwd, { recursive: true, force: true })
    })

    const start = () => {
      const flags = { model: join(cwd, "model"), python: Foreign.python, steps: `${steps}`, seeds: "1", out: cwd }
      const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
      return Programs.launch(process.execPath, [study, ...args], cwd)
    }
    const read = (file: string) => readFile(join(cwd, file), "utf8")

    it("continues after the trainer, the server and itself were killed, and counts every step once", async () => {
      await Programs.start(World.script("tiny_model.py"), [join(cwd, "model")], cwd).ended()
      // The checkpoint is of step 5; this is reported after step 6.
      await start().killedAt(join(cwd, "evolved/seed-1/train.log"), "'epoch': '0.8571'")
      await start().ended()
      for (const arm of ["static", "evolved"]) {
        const result = JSON.parse(await read(`${arm}/seed-1/result.json`))
        assert.deepEqual(
          result.steps.map(({ step }: { step: number }) => step),
          Array.from({ length: steps }, (_, index) => index + 1)
        )
        assert.lengthOf(result.answers.leading, 100)
      }
      assert.include(await read("trained.md"), "| under the leading one | mean |")
    })
  }
)
