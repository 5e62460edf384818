import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, describe, it } from "vitest"
import { folder, good, start } from "./support/TicketModel.ts"

const model = await start()
afterAll(() => model.server.stop())

const root = fileURLToPath(new URL("../..", import.meta.url))
const guide = "docs/how-to/improve-a-prompt.md"

/** The lines of a program in TypeScript or Python that are neither blank nor comments. */
const linesOfCode = (program: string): number =>
  program.split("\n").filter((line) => line.trim() !== "" && !/^\s*(?:\/\/|\/\*\*|#|""")/u.test(line)).length

describe("the ticket job", () => {
  it("takes the lines of code that the guide says, 20 at most with evolve()", () => {
    const rows = readFileSync(join(root, guide), "utf8").matchAll(/^\| \[.*\]\((.*sort-tickets.*)\) +\| +(\d+) \|/gmu)
    const counted = [...rows].map(([, link = "", lines]) => {
      const file = join(root, dirname(guide), link)
      return { file: relative(folder, file), said: Number(lines), lines: linesOfCode(readFileSync(file, "utf8")) }
    })
    for (const { file, lines, said } of counted) assert.strictEqual(said, lines, file)
    for (const { file, lines } of counted) if (!file.startsWith("others")) assert.isAtMost(lines, 20, file)
    const programs = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
      /\.(?:ts|mjs|py)$/u.test(file)
    )
    assert.sameMembers(
      counted.map(({ file }) => file),
      programs
    )
  })

  it("in the AI SDK finds a better prompt, and shows it on held-out tickets", async () => {
    const env = { ...process.env, OPENAI_API_KEY: "k", OPENAI_BASE_URL: model.url, MODEL: "scripted" }
    const { stdout } = await promisify(execFile)(process.execPath, ["ai-sdk.ts"], { cwd: folder, env })
    assert.match(stdout, /^# /u)
    assert.include(stdout, good)
  })
})
