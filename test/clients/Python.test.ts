import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import { codeBlocks, promised, squash } from "../packages/support/Example.ts"
import { main } from "../cli/Inspo.ts"
import { RealServer } from "./RealServer.ts"
import { noPython } from "./Subject.ts"

const folder = fileURLToPath(new URL("../../clients/python", import.meta.url))
const python = (...args: ReadonlyArray<string>) =>
  promisify(execFile)("python3", args, {
    cwd: folder,
    env: { ...process.env, PYTHONPATH: join(folder, "src"), INSPO_COMMAND: `"${process.execPath}" "${main}"` }
  })

/** Prints why a trainer with a timeout of an hour stops. */
const trainer = (url: string, population: string): string => `
from inspo_client import LeaseRequest
from inspo_client.integrations import Stopped, TrainingRun
try:
    TrainingRun(["${url}"], "${population}", retry_budget=3600).leases(0, [LeaseRequest("k")])
except Stopped as stopped:
    print(str(stopped).removeprefix("${population}: "))
`

it.skipIf(process.env["INSPO_PYTHON"] === undefined)("there is a Python to test its client with", () => {
  assert.isNull(noPython)
})

describe.skipIf(noPython !== null)(`clients/python${noPython === null ? "" : ` (${noPython})`}`, () => {
  it("passes its own tests", { timeout: 300_000 }, async () => {
    const { stderr } = await python("-m", "unittest", "discover", "-s", "tests")
    assert.match(stderr, /\nOK\n/u)
  })

  it(
    "stops a trainer at once if the population has another profile, or does not exist",
    { timeout: 30_000 },
    async () => {
      const server = new RealServer({}, "online")
      await server.start()
      try {
        for (const [population, message] of [
          ["support", "expected: no cohort; remedy: .* profile: trainer"],
          ["suport", "remedy: Create it with PUT /v1/populations/suport"]
        ]) {
          const { stdout } = await python("-c", trainer(server.url, population ?? ""))
          assert.match(stdout, new RegExp(`^got no leases of train/0: status 40[04], .*${message}`, "u"))
        }
      } finally {
        await server.end()
      }
    }
  )

  it("keeps the promises of its README", async () => {
    const readme = await readFile(join(folder, "README.md"), "utf8")
    const temporary = await mkdtemp(join(tmpdir(), "inspo-python-readme-"))
    try {
      for (const example of codeBlocks(readme, "python")) {
        const file = join(temporary, "example.py")
        await writeFile(file, example)
        const { stdout } = await python(file)
        assert.strictEqual(squash(stdout), promised(example.replaceAll("  # ", " // ")))
      }
    } finally {
      await rm(temporary, { recursive: true })
    }
  })
})
