/** @module-tag runs */
import { spawnSync } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { inspo } from "../cli/Inspo.ts"
import { blocksOf } from "./support/Documents.ts"

const page = blocksOf("docs/how-to/agents-outside.md")
const countries = [
  "France",
  "Italy",
  "Spain",
  "Japan",
  "Peru",
  "Kenya",
  "Chile",
  "Cuba",
  "Norway",
  "Ghana",
  "Nepal",
  "Oman"
]

let cwd = ""
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-agents-outside-"))
  await writeFile(join(cwd, "prompt.txt"), "Name it.\n")
  await writeFile(join(cwd, "sentences.txt"), "Be polite.\nAnswer in one word.\n")
  await writeFile(
    join(cwd, "cases.csv"),
    ["country,expected", ...countries.map((one) => `${one},${one.toUpperCase()}`)].join("\n")
  )
})
afterAll(() => rm(cwd, { recursive: true, force: true }))

const manifest = `[package]
name = "agent"
version = "0.1.0"
edition = "2021"

[dependencies]
serde_json = "1"
`

/** How the program of a language is made and started, and the command without which it is skipped. */
const languages = [
  { language: "python", needs: "python3", file: "agent.py", build: [], start: "python3 agent.py" },
  { language: "go", needs: "go", file: "agent.go", build: ["go", "build", "agent.go"], start: "./agent" },
  {
    language: "rust",
    needs: "cargo",
    file: "src/main.rs",
    build: ["cargo", "build", "--quiet"],
    start: "target/debug/agent"
  },
  { language: "bash", needs: "jq", file: "agent.sh", build: [], start: "bash agent.sh" }
]

const exists = (command: string): boolean => spawnSync(command, ["--help"], { stdio: "ignore" }).error === undefined

describe("the programs of docs/how-to/agents-outside.md", { timeout: 300_000 }, () => {
  it("are one in each language", () => {
    for (const { language } of languages)
      assert.lengthOf(
        page.filter((block) => block.language === language),
        1
      )
  })

  for (const { build, file, language, needs, start } of languages)
    it.skipIf(!exists(needs))(`improve a prompt: ${language}, which needs ${needs}`, async () => {
      const folder = join(cwd, language)
      await mkdir(dirname(join(folder, file)), { recursive: true })
      await writeFile(join(folder, "Cargo.toml"), manifest)
      await writeFile(join(folder, file), page.find((block) => block.language === language)?.code ?? "")
      const [command, ...args] = build
      if (command !== undefined) {
        const built = spawnSync(command, args, { cwd: folder, encoding: "utf8" })
        assert.strictEqual(built.status, 0, built.stderr)
      }
      const files = ["../prompt.txt", "../cases.csv", "--sentences", "../sentences.txt", "--out", "search"]
      const finished = await inspo(["evolve", ...files, "--agent", start, "--calls", "60", "--json"], { cwd: folder })
      assert.strictEqual(finished.code, 0, finished.stderr)
      assert.include(JSON.parse(finished.stdout).prompt, "Answer in one word.")
    })
})
