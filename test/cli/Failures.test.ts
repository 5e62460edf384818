import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertToldInOneParagraph, endAll, inspo, testTimeout } from "./Inspo.ts"
import { tinyRun, writeTinyModel } from "./TinyModel.ts"

let cwd = ""

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-failures-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
})

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

/** Loaded before the program: its own thread throws once it has grouped something this often. */
const planted = (after: number): string =>
  "import { isMainThread } from 'node:worker_threads'\n" +
  `const group = Map.groupBy; let left = isMainThread ? ${after} : Infinity\n` +
  "Map.groupBy = (...given) => { if (--left < 0) throw new TypeError('planted'); return group(...given) }"

describe("a run that fails", { timeout: testTimeout, tags: "runs" }, () => {
  it("shows and keeps the stack of a fault in the code, names files that cannot be used, and continues", async () => {
    await writeFile(join(cwd, "planted.mjs"), planted(20))
    const died = await inspo(["run", "--no-baseline", "--out", "run", ...tinyRun], {
      cwd,
      env: { NODE_OPTIONS: `--import=${join(cwd, "planted.mjs")}` }
    })
    assert.strictEqual(died.code, 1, died.stderr)
    assert.match(died.stderr, /^inspo: planted\.\nTypeError: planted\n +at /mu)
    assert.match(await readFile(join(cwd, "run/errors.log"), "utf8"), /TypeError: planted\n +at /u)

    await mkdir(join(cwd, "run/candidates.json"))
    const blocked = await inspo(["resume", "run", "--no-baseline", "--quiet"], { cwd })
    assertToldInOneParagraph(blocked, 1, "run/candidates.json cannot be written (EISDIR")
    await rm(join(cwd, "run/candidates.json"), { recursive: true })

    const resumed = await inspo(["resume", "run", "--no-baseline", "--quiet"], { cwd })
    assert.strictEqual(resumed.code, 0, resumed.stderr)
    await writeFile(join(cwd, "run/outcome.json"), '{"baseline":0}')
    assertToldInOneParagraph(await inspo(["show", "run"], { cwd }), 1, "run/outcome.json is not a valid outcome")
  })
})
