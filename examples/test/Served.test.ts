import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Population } from "@inspo/serve"
import { Effect, ManagedRuntime, Schema } from "effect"
import { HttpServer } from "effect/http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspoServer } from "../../test/cli/Inspo.ts"
import * as ScriptedModel from "./support/ScriptedModel.ts"

const examples = fileURLToPath(new URL("..", import.meta.url))

/** An agent's model, which asks for the order if instructed to, and a proposer, which proposes that instruction. */
const model = ManagedRuntime.make(
  ScriptedModel.layer((messages) => {
    const [{ content: system } = { content: "" }] = messages
    const asked = messages.map(({ content }) => content).join("\n")
    if (asked.includes("did not look the order up"))
      return "<ins_1>You are the support agent of a small shop. Look the order up, then answer the customer.</ins_1>"
    return system.includes("which order") ? "Which order is it?" : "It will come."
  })
)

let directory = ""
let url = ""
let modelUrl = ""

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-examples-"))
  modelUrl = await model.runPromise(HttpServer.addressFormattedWith((address) => Effect.succeed(`${address}/v1`)))
  const proposer = { model: `${modelUrl}#scripted` }
  await writeFile(join(directory, "serve.json"), JSON.stringify({ proposer }))
  const { ready } = await inspoServer(["serve", "serve.json", "--port", "0", "--json"], { cwd: directory })
  url = JSON.parse(ready).url
}, 60_000)

afterAll(async () => {
  endAll()
  await model.dispose()
  await rm(directory, { recursive: true, force: true })
})

const start = (program: string, args: ReadonlyArray<string>): ChildProcess =>
  spawn(program, args, {
    cwd: examples,
    env: { ...process.env, INSPO_URL: url, MODEL_URL: modelUrl, MODEL: "scripted" },
    stdio: ["pipe", "pipe", "pipe"]
  })

/** The output of a program that gets `input`. */
const run = async (program: string, args: ReadonlyArray<string>, input = ""): Promise<string> => {
  const child = start(program, args)
  let output = ""
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()))
  child.stderr?.on("data", (chunk: Buffer) => (output += chunk.toString()))
  child.stdin?.end(input)
  const [code] = await once(child, "close")
  assert.strictEqual(code, 0, output)
  return output
}

const population = async (name: string) =>
  Schema.decodeUnknownSync(Population.Population)(await (await fetch(`${url}/v1/populations/${name}`)).json())

describe("examples of the instruction server", { timeout: 120_000 }, () => {
  it("a batch job reports scores, and gets prompts that wait for approval", async () => {
    const files = ["prompt.txt", "scored.jsonl"].map((name) => `improve-from-a-file/${name}`)
    const said = await run(process.execPath, ["improve-from-a-file/main.ts", ...files])
    assert.match(said, /^You are the support agent of a small shop\. Look the order up, then answer the customer\.$/mu)
    const { members } = await population("from-a-file")
    assert.deepStrictEqual(
      members.map(({ standing }) => standing),
      ["member", "waiting"]
    )
  })

  it("a chat agent on the AI SDK answers, and another process reports thumbs", async () => {
    const said = await run(process.execPath, ["chat-agent/main.ts"], "Where is my lamp?\nAnd my kettle?\n\n")
    const leases = [...said.matchAll(/thumb\.ts (\S+) up/gu)].map(([, lease = ""]) => lease)
    assert.lengthOf(leases, 2, said)
    assert.lengthOf(said.match(/Which order is it\?|It will come\./gu) ?? [], 2)
    for (const lease of leases)
      assert.include(
        await run(process.execPath, ["chat-agent/thumb.ts", lease, "down", "it did not look"]),
        "Thank you"
      )
    const { cohorts, leases: counted } = await population("support")
    assert.strictEqual(counted.given, 2)
    assert.strictEqual(cohorts[0]?.reported, 2)
  })
})
