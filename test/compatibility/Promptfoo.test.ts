import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { messages } from "../../apps/cli/src/evolve/Job.ts"
import { ModelFailed } from "../../apps/cli/src/evolve/Model.ts"
import * as Promptfoo from "../../apps/cli/src/evolve/Promptfoo.ts"
import * as Scoring from "../../apps/cli/src/evolve/Scoring.ts"
import * as LocalServer from "../../packages/reflection/test/support/LocalServer.ts"
import * as Foreign from "./support/Foreign.ts"

const run = promisify(execFile)
const configs = fileURLToPath(new URL("./promptfoo", import.meta.url))
const program = `${Foreign.npmFolder("promptfoo")}/dist/src/entrypoint.js`

const decodeRequest = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({ messages: Schema.Array(Schema.Struct({ role: Schema.String, content: Schema.String })) })
  )
)
const decodeResults = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({ results: Schema.Struct({ results: Schema.Array(Schema.Struct({ score: Schema.Finite })) }) })
  )
)

/** What the model answers: what follows the word in the last message. */
const answerTo = (message: string): string => /REPEAT (.*)$/su.exec(message)?.[1] ?? ""

const noJudge = {
  name: { provider: "openai", model: "none", url: null, text: "none" },
  price: null,
  ask: () => Effect.fail(new ModelFailed({ problem: "no judge", status: null })),
  atMost: () => null,
  find: Effect.void
} as const

describe.skipIf(Foreign.problem !== null)("promptfoo", () => {
  it.live.each(["variables.yaml", "assertions.yaml"])(
    "sends and scores as inspo does: %s",
    (name) =>
      Effect.gen(function* () {
        const folder = yield* Effect.acquireRelease(
          Effect.promise(() => mkdtemp(join(tmpdir(), "inspo-promptfoo-"))),
          (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
        )
        const server = yield* LocalServer.make(({ body }) => {
          const content = answerTo(decodeRequest(body).messages.at(-1)?.content ?? "")
          return [
            { body: JSON.stringify({ choices: [{ finish_reason: "stop", message: { role: "assistant", content } }] }) }
          ]
        })
        const file = join(configs, name)
        const out = join(folder, "out.json")
        const flags = ["--no-cache", "--no-write", "--no-table", "--no-progress-bar", "-j", "1", "-o", out]
        const env = {
          ...process.env,
          OPENAI_API_KEY: "none",
          OPENAI_BASE_URL: `${server.url}/v1`,
          PROMPTFOO_CONFIG_DIR: folder,
          PROMPTFOO_DISABLE_TELEMETRY: "1",
          PROMPTFOO_DISABLE_UPDATE: "1",
          // Its exit code says whether tests passed.
          PROMPTFOO_FAILED_TEST_EXIT_CODE: "0"
        }
        yield* Effect.promise(() =>
          run(process.execPath, [program, "eval", "-c", file, ...flags], { env, cwd: folder })
        )
        const theirs = decodeResults(yield* Effect.promise(() => readFile(out, "utf8"))).results.results

        const { jobs, prompt } = Promptfoo.parse(file, yield* Effect.promise(() => readFile(file, "utf8")))
        assert.deepStrictEqual(
          jobs.map((job) => messages(prompt, job).map(({ role, text }) => ({ role, content: text }))),
          server.asked.map(({ body }) => decodeRequest(body).messages)
        )
        const scores = yield* Effect.forEach(jobs, (job) =>
          Scoring.score(noJudge, answerTo(messages(prompt, job)[0]?.text ?? ""), job, () => {})
        )
        assert.deepStrictEqual(
          scores.map(({ score }) => score),
          theirs.map(({ score }) => score)
        )
        Foreign.record({
          software: "promptfoo",
          package: "promptfoo",
          what: "its configs in `inspo evolve`: equal messages and scores of variables, assertions and weights"
        })
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )
})
