import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { Population } from "@inspo/serve"
import { Schema } from "effect"
import { afterAll, afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import { ModelServer } from "../agents/ModelServer.ts"
import { endAll, inspoServer } from "../cli/Inspo.ts"
import { type Block, blocksOf } from "../docs-examples/support/Documents.ts"
import * as Foreign from "./support/Foreign.ts"
import * as Programs from "./support/Programs.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const page = "docs/how-to/agents.md"
const run = promisify(execFile)
const decodeReady = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ url: Schema.String })))
const decodePopulation = Schema.decodeUnknownSync(Schema.fromJsonString(Population.Population))

const model = new ModelServer()
const folder = Foreign.programFolder("agents")
let directory = ""
/** A server without keys, and one with keys. */
let open = ""
let guarded = ""

/** What was run against the programs of the page, by a name that only they contain. */
const frameworks = [
  { name: "ai-sdk", mark: "@inspo/client/AiSdk", software: "AI SDK", package: "ai" },
  { name: "langchain", mark: "createAgent", software: "LangChain, LangGraph", package: "langchain" },
  { name: "mastra", mark: "@mastra/core/agent", software: "Mastra", package: "@mastra/core" },
  { name: "openai-agents", mark: "@openai/agents", software: "OpenAI Agents SDK", package: "@openai/agents" }
]

const programs = blocksOf(page)
const programOf = (mark: string): Block => {
  const [found, ...more] = programs.filter(({ code }) => code.includes(mark))
  assert.isDefined(found, mark)
  assert.isEmpty(more, mark)
  return found
}

/** As printed, except for the servers' addresses and longer timeouts. */
const placed = ({ code }: Block, modelUrl: string): string =>
  code
    .replaceAll('urls: ["http://127.0.0.1:8700"]', `urls: ["${open}"], timeout: 20_000`)
    .replaceAll("http://127.0.0.1:8700", open)
    .replaceAll("http://127.0.0.1:11434/v1", modelUrl)

describe.skipIf(Foreign.problem !== null)("agents in other frameworks", { timeout: 120_000 }, () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "inspo-agents-foreign-"))
    const populations = { support: { seed: "Be helpful.", variants: ["Be brief.", "Be kind."] } }
    await writeFile(join(directory, "serve.json"), JSON.stringify({ populations }))
    const modelUrl = await model.start()
    process.env["INSPO_COMPATIBILITY_KEY"] = "key-of-the-test"
    process.env["INSPO_COMPATIBILITY_MODEL_KEY"] = "key-of-the-model"
    const start = async (out: string, ...flags: ReadonlyArray<string>) => {
      const args = ["serve", "serve.json", "--out", out, "--port", "0", "--json", "--upstream", modelUrl, ...flags]
      return decodeReady((await inspoServer(args, { cwd: directory })).ready).url
    }
    const keys = ["--api-key-env", "INSPO_COMPATIBILITY_KEY", "--upstream-key-env", "INSPO_COMPATIBILITY_MODEL_KEY"]
    ;[open, guarded] = await Promise.all([start("open"), start("guarded", ...keys)])

    await rm(folder, { recursive: true, force: true })
    await mkdir(join(folder, "node_modules/@inspo"), { recursive: true })
    await symlink(join(root, "packages/client"), join(folder, "node_modules/@inspo/client"))
    await writeFile(join(folder, "package.json"), '{ "type": "module" }')
    for (const { mark, name } of frameworks)
      await writeFile(join(folder, `${name}.ts`), placed(programOf(mark), modelUrl))
    await writeFile(join(folder, "proxy.py"), placed(programOf("with_raw_response"), modelUrl))
    await cp(join(root, "test/compatibility/node/with-proxy.mjs"), join(folder, "with-proxy.mjs"))
  }, 60_000)

  afterEach(() => {
    model.asked.length = 0
  })

  afterAll(async () => {
    endAll()
    await model.stop()
    await rm(directory, { recursive: true, force: true })
  })

  it("have programs that pass the type check", () =>
    Programs.assertTypes(
      folder,
      frameworks.map(({ name }) => `${name}.ts`)
    ))

  for (const { name, package: from, software } of frameworks)
    it(`${software}: the program of the page asks with the leased instruction, and its reward counts`, async () => {
      const population = async () => decodePopulation(await (await fetch(`${open}/v1/populations/support`)).text())
      const before = (await population()).leases.given
      const { stdout } = await run(process.execPath, [join(folder, `${name}.ts`)])
      assert.match(stdout, /^Be \w+\.\n$/u)
      const systems = model.takeSystems()
      assert.deepStrictEqual(
        [...new Set(systems)].map((system) => `${system}\n`),
        [stdout]
      )
      const { given, open: unrewarded } = (await population()).leases
      assert.deepStrictEqual([given - before, unrewarded], [1, 0])
      Foreign.record({
        software,
        package: from,
        what: "the program of docs/how-to/agents.md, and its reward"
      })
    })

  it("OpenAI's clients get what they expect through the proxy, and a caller that goes away ends the model's work", async () => {
    await run(Foreign.python, [join(folder, "proxy.py")]).then(({ stdout }) =>
      assert.match(stdout, /^Be \w+\. support~/u)
    )
    model.asked.length = 0
    const what = "`inspo serve --upstream`: chat completions and responses, streams, headers, refusals, leaving early"
    const asked = [
      ["OpenAI's Python client", Foreign.python, fileURLToPath(new URL("./python/with_proxy.py", import.meta.url))],
      ["OpenAI's client for Node.js", process.execPath, join(folder, "with-proxy.mjs")]
    ] as const
    for (const [, program, script] of asked) {
      await run(program, [script, `${guarded}/v1`, "key-of-the-test"])
      const left = model.asked.findLast(({ body }) => body.includes('"leaves"'))
      await vi.waitFor(() => assert.isTrue(left?.aborted, script), { timeout: 10_000 })
      for (const { headers } of model.asked) assert.strictEqual(headers.authorization, "Bearer key-of-the-model")
    }
    for (const [software, , script] of asked)
      Foreign.record({ software, package: "openai", registry: script.endsWith(".py") ? "PyPI" : "npm", what })
  })
})
