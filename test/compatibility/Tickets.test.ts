import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { copyFile, mkdir, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as TicketModel from "../../examples/test/support/TicketModel.ts"
import { type Asked, ModelServer } from "../agents/ModelServer.ts"
import * as Foreign from "./support/Foreign.ts"
import * as Programs from "./support/Programs.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)
const better = `${TicketModel.prompt} ${TicketModel.good}`

/** A place with the tickets, and with the programs of one folder of `examples/sort-tickets`. */
const place = async (folder: string, from: string, programs: ReadonlyArray<string>): Promise<void> => {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, "package.json"), '{ "type": "module" }')
  await copyFile(join(TicketModel.folder, "tickets.csv"), join(folder, "tickets.csv"))
  for (const program of programs) await copyFile(join(TicketModel.folder, from, program), join(folder, program))
}

/** What a library asks of other servers, or keeps in the home folder, is turned off. */
const environment = (url: string): NodeJS.ProcessEnv => ({
  ...process.env,
  LITELLM_LOCAL_MODEL_COST_MAP: "True",
  DSPY_CACHEDIR: "cache",
  OPENAI_API_KEY: "key-of-the-test",
  OPENAI_BASE_URL: url,
  MODEL: "scripted"
})

const frameworks = [
  { program: "langchain.ts", software: "LangChain, LangGraph", package: "langchain" },
  { program: "mastra.ts", software: "Mastra", package: "@mastra/core" }
]

describe.skipIf(Foreign.problem !== null)("the ticket job with evolve()", { timeout: 120_000 }, () => {
  const folder = Foreign.programFolder("tickets")
  const model = new ModelServer(TicketModel.answer)
  let url = ""

  beforeAll(async () => {
    url = await model.start()
    await place(
      folder,
      "frameworks",
      frameworks.map(({ program }) => program)
    )
    await mkdir(join(folder, "node_modules/@inspo"), { recursive: true })
    await symlink(join(root, "packages/evolve"), join(folder, "node_modules/@inspo/evolve"))
  })

  afterAll(() => model.stop())

  it("has programs that pass the type check", () =>
    Programs.assertTypes(
      folder,
      frameworks.map(({ program }) => program)
    ))

  for (const { package: from, program, software } of frameworks)
    it(`finds a better prompt for an agent in ${software}`, async () => {
      const { stdout } = await run(process.execPath, [program], { cwd: folder, env: environment(url) })
      assert.match(stdout, /^# A better prompt\n/u)
      assert.include(stdout, TicketModel.good)
      Foreign.record({ software, package: from, what: "its agent in `evolve()`: examples/sort-tickets" })
    })
})

const rivals = join(root, ".cache/rivals")
const problem =
  Foreign.problem ?? (existsSync(join(rivals, "installed.txt")) ? null : "skipped: run research/studies/rivals/install")

/** The same model in the formats in which each library asks and writes prompts. */
const inFormat = (asked: Asked): string => {
  const { body } = asked
  if (body.includes("new_instruction")) return JSON.stringify({ new_instruction: better })
  if (body.includes("Your task is to write a new instruction")) return `\`\`\`\n${better}\n\`\`\``
  if (body.includes("New Value")) return `New Value: ${better}`
  if (body.includes("Feedback Summary")) return "Feedback Summary: The category is wanted alone."
  if (body.includes("[[ ## category ## ]]"))
    return `[[ ## category ## ]]\n${TicketModel.answer(asked)}\n\n[[ ## completed ## ]]`
  return body.includes("`category`") ? `Category: ${TicketModel.answer(asked)}` : TicketModel.answer(asked)
}

describe.skipIf(problem !== null)(
  `the ticket job with other optimizers${problem === null ? "" : `: ${problem}`}`,
  { timeout: 300_000 },
  () => {
    const folder = join(rivals, "programs")
    const model = new ModelServer(inFormat)
    const python = join(rivals, "bin/python")
    const programs = [
      { name: "gepa", command: [python, "with_gepa.py"] },
      { name: "DSPy", command: [python, "with_dspy.py"] },
      { name: "ax", command: [process.execPath, "with_ax.mjs"] }
    ] as const
    let url = ""

    beforeAll(async () => {
      url = await model.start()
      await place(
        folder,
        "others",
        programs.map(({ command: [, program] }) => program)
      )
    })

    afterAll(() => model.stop())

    for (const { command, name } of programs)
      it(`is done by the program for ${name}`, async () => {
        const [program, file] = command
        const { stdout } = await run(program, [file], { cwd: folder, env: environment(url), maxBuffer: 2 ** 26 })
        assert.strictEqual(stdout.trim().split("\n").at(-1), better)
      })
  }
)
