import { execFile } from "node:child_process"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { testTimeout } from "../cli/Inspo.ts"

/** Code that is compiled meanwhile would count in the heap of so short a run. */
const interpreted = ["--no-opt", "--no-maglev", "--no-sparkplug", "--no-flush-bytecode"]

describe("a run", { tags: "runs" }, () => {
  it("does not need more memory when it is longer or resumed", { timeout: testTimeout }, async () => {
    const bench = join(import.meta.dirname, "../../tools/bench/memory.ts")
    const { code, stdout } = await new Promise<{ readonly code: unknown; readonly stdout: string }>((resolve) => {
      execFile(process.execPath, [...interpreted, bench, "150"], (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout: stdout + stderr })
      )
    })
    assert.strictEqual(code, 0, stdout)
  })
})
