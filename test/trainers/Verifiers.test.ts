import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { json } from "node:stream/consumers"
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll } from "../cli/Inspo.ts"
import * as Foreign from "./support/Foreign.ts"
import * as Laws from "./support/Laws.ts"
import * as Programs from "./support/Programs.ts"
import * as World from "./support/World.ts"

const decodeAsked = Schema.decodeUnknownSync(
  Schema.Struct({ messages: Schema.Array(Schema.Struct({ role: Schema.String, content: Schema.String })) })
)

/** A policy that repeats its instruction. */
const startPolicy = async (): Promise<{ readonly server: Server; readonly url: string }> => {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [system] = decodeAsked(await json(request)).messages
    const message = { role: "assistant", content: system?.content }
    response.writeHead(200, { "content-type": "application/json" }).end(
      JSON.stringify({
        id: "c",
        object: "chat.completion",
        created: 0,
        model: "m",
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }
      })
    )
  }
  const server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return { server, url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/v1` }
}

const decodeCheckpoint = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ step: Schema.Int })))

describe.skipIf(Foreign.problem !== null)(`verifiers (${Foreign.problem ?? "its environment server"})`, () => {
  let cwd = ""
  let world: World.World
  let policy: Awaited<ReturnType<typeof startPolicy>>

  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "inspo-verifiers-"))
    world = await World.start(cwd)
    policy = await startPolicy()
  }, Programs.testTimeout)

  afterAll(async () => {
    Programs.endAll()
    await world.stop()
    policy.server.close()
    endAll()
    await rm(cwd, { recursive: true, force: true })
  })

  it(
    "has each group under one instruction, rewards it once, goes back with its checkpoint, and finds the best",
    { timeout: Programs.testTimeout },
    async () => {
      const [log, checkpoint] = [join(cwd, "log.jsonl"), join(cwd, "checkpoint.json")]
      const train = (attempt: string) =>
        Programs.start(World.script("tasks.py"), [world.url, policy.url, log, checkpoint, attempt, "24"], cwd)
      await train("one").killedAt(log, '"cohort": 7,')
      const { step } = decodeCheckpoint(await readFile(checkpoint, "utf8"))
      assert.isAbove(step, 0)
      await train("two").ended()
      await Laws.check(await Laws.readLog(log), {
        url: world.url,
        attempts: [
          { name: "one", first: 0 },
          { name: "two", first: step }
        ],
        cohorts: 24,
        groups: 16,
        n: 2
      })
      const validated = await Laws.readLog(`${log}.validation`)
      assert.strictEqual(validated.at(-1)?.instruction, World.best, "what is validated in the end is the incumbent")
    }
  )

  it(
    "lets lost groups expire, and does not count failures as evidence",
    { timeout: Programs.testTimeout },
    async () => {
      await World.make(world.url, "cancelled")
      const output = await Programs.start(World.script("cancelled.py"), [world.url, "cancelled"], cwd).ended()
      assert.deepStrictEqual(output.trim().split("\n"), ["[-1, -1, 1, 1]", "[true, 0, 0]"])
    }
  )

  it("runs as documented", { timeout: Programs.testTimeout }, async () => {
    await World.make(world.url, "printed")
    const replaced = {
      "http://127.0.0.1:8700": world.url,
      "http://127.0.0.1:8000/v1": policy.url,
      '"policy")\ntasks': '"printed")\ntasks'
    }
    const output = await (await Programs.startPrinted("LeasedTasks(itertools", replaced, cwd)).ended()
    assert.include(output, "{'cohort': 2, 'open': 0, 'expired': 0}")
  })
})
