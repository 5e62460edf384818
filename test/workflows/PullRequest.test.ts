import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { parse } from "yaml"
import { exchanges } from "../../packages/reflection/test/fixtures/exchanges.ts"
import * as LocalServer from "../../packages/reflection/test/support/LocalServer.ts"
import { main, testTimeout } from "../cli/Inspo.ts"
import { root } from "../packages/support/Workspace.ts"

const Texts = Schema.Record(Schema.String, Schema.String)
const Action = Schema.Struct({
  inputs: Schema.Record(Schema.String, Schema.Struct({ default: Schema.optionalKey(Schema.String) })),
  runs: Schema.Struct({ steps: Schema.Tuple([Schema.Struct({ run: Schema.String, env: Texts })]) })
})
const action = Schema.decodeUnknownSync(Action)(parse(readFileSync(join(root, "action.yml"), "utf8")))

const example = join(root, "examples/pull-request")
let directory = ""
const git = (cwd: string, ...args: ReadonlyArray<string>): void => {
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd, stdio: "ignore" })
}

const town = "Name the capital of the country.\nThe country is the whole message.\nThere is one capital.\n"

/** A server with the example on `main`, and a branch for each prompt. */
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "inspo-pull-request-"))
  git(directory, "init", "--bare", "--initial-branch=main", "server.git")
  const work = join(directory, "work")
  cpSync(example, work, { recursive: true })
  git(work, "init", "--initial-branch=main")
  const commit = (message: string) => {
    git(work, "add", ".")
    git(work, "commit", "-m", message)
  }
  writeFileSync(join(work, "prompts/town.txt"), town)
  commit("The example")
  git(work, "remote", "add", "origin", join(directory, "server.git"))
  for (const [branch, text] of [
    ["better", "Name the capital. Answer in one word.\n"],
    ["worse", "Name the capital, in verse.\n"],
    ["moved", `${town}Answer in verse, in verse.\n`],
    ["unchanged", null]
  ] as const) {
    git(work, "checkout", "-b", branch, "main")
    const file = branch === "moved" ? "prompts/city.txt" : "prompts/capital.txt"
    if (branch === "moved") git(work, "mv", "prompts/town.txt", file)
    if (text !== null) writeFileSync(join(work, file), text)
    writeFileSync(join(work, "README.md"), branch)
    commit(branch)
  }
  git(work, "push", "origin", "--all")
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** The model, and the part of GitHub that keeps comments. */
const servers = () =>
  LocalServer.make((one) => {
    if (one.path.startsWith("/repos/")) return [{ body: one.method === "GET" ? JSON.stringify(comments) : "{}" }]
    if (one.method === "GET") return [{ body: JSON.stringify({ data: [{ id: "m" }] }) }]
    const right = one.body.includes("in verse")
      ? null
      : new Map(capitals).get(/country: (\w+)/u.exec(one.body)?.[1] ?? "")
    return [{ body: exchanges[0]?.success(right ?? "O city") ?? "" }]
  })
const capitals = readFileSync(join(example, "cases.csv"), "utf8")
  .split("\n")
  .map((line) => [line.split(",")[0] ?? "", line.split(",")[1] ?? ""] as const)
let comments: ReadonlyArray<object> = []

/** Runs the step of the action in a shallow clone of a branch, as GitHub does. */
const check = (branch: string, url: string, inputs: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    const clone = join(mkdtempSync(join(directory, "clone-")), "clone")
    git(directory, "clone", "--depth=1", "--branch", branch, pathToFileURL(join(directory, "server.git")).href, clone)
    const [step] = action.runs.steps
    const given: Readonly<Record<string, string>> = {
      flags: `--cases cases.csv --model ${url}/v1#m --score exact --looks final --margin 0.6 --require no-worse`,
      program: `"${process.execPath}" "${main}"`,
      token: "secret-token",
      ...inputs
    }
    const env = Object.fromEntries(
      Object.entries(step.env).map(([name, value]) => {
        const input = /^\$\{\{ inputs\.(\w+) \}\}$/u.exec(value)?.[1] ?? assert.fail(value)
        return [name, given[input] ?? action.inputs[input]?.default ?? ""]
      })
    )
    const event = join(directory, `${branch}.json`)
    writeFileSync(event, JSON.stringify({ pull_request: { number: 7, base: { ref: "main" } } }))
    const outputs = join(clone, "..", "outputs")
    const child = spawn("bash", ["-e", "-c", step.run], {
      cwd: clone,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        ...env,
        GITHUB_ACTION_PATH: root,
        GITHUB_API_URL: url,
        GITHUB_EVENT_PATH: event,
        GITHUB_OUTPUT: outputs,
        GITHUB_REPOSITORY: "owner/example",
        RUNNER_TEMP: directory
      }
    })
    let printed = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (printed += String(chunk)))
    const [code] = await once(child, "close")
    return { code: Number(code), printed, outputs: readFileSync(outputs, "utf8") }
  })

const written = ({ asked }: LocalServer.LocalServer) =>
  asked.filter(({ method, path }) => method !== "GET" && path.startsWith("/repos/"))

describe("the action for pull requests", { timeout: testTimeout, tags: "runs" }, () => {
  it.live("passes a prompt that is no worse, and comments with its report", () =>
    Effect.gen(function* () {
      comments = []
      const server = yield* servers()
      const found = yield* check("better", server.url)
      assert.strictEqual(found.code, 0, found.printed)
      assert.strictEqual(found.outputs, "verdict=met\n")
      const [comment, ...others] = written(server)
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual([comment?.method, comment?.path], ["POST", "/repos/owner/example/issues/7/comments"])
      const { body } = JSON.parse(comment?.body ?? "")
      assert.match(body, /^<!-- inspo compare -->\n/u)
      assert.include(body, "prompts/capital.txt")
      assert.include(body, "calls of the agent")
      assert.notInclude(found.printed, "secret-token")
    })
  )

  it.live("fails a prompt that is worse, and renews its comment", () =>
    Effect.gen(function* () {
      comments = [
        { id: 3, body: "Nice." },
        { id: 4, body: "<!-- inspo compare -->\n" }
      ]
      const server = yield* servers()
      const found = yield* check("worse", server.url)
      assert.strictEqual(found.code, 3, found.printed)
      assert.strictEqual(found.outputs, "verdict=not-met\n")
      const [comment] = written(server)
      assert.deepStrictEqual([comment?.method, comment?.path], ["PATCH", "/repos/owner/example/issues/comments/4"])
      assert.include(comment?.body, "Protected cases that it fails")
      assert.include(comment?.body, "Cases that got worse")
    })
  )

  it.live("compares a prompt that was moved with what it was, and has no verdict without a requirement", () =>
    Effect.gen(function* () {
      comments = []
      const server = yield* servers()
      const flags = `--cases cases.csv --model ${server.url}/v1#m --score exact --looks final`
      const found = yield* check("moved", server.url, { flags })
      assert.deepStrictEqual([found.code, found.outputs], [0, "verdict=\n"], found.printed)
      assert.include(written(server)[0]?.body, "prompts/city.txt")
      assert.include(written(server)[0]?.body, "# Worse")
    })
  )

  it.live("asks and says nothing where no prompt changed, and fails on flags that cannot work", () =>
    Effect.gen(function* () {
      const server = yield* servers()
      const found = yield* check("unchanged", server.url)
      assert.deepStrictEqual([found.code, found.outputs, server.asked.length], [0, "verdict=unchanged\n", 0])
      const failed = yield* Effect.exit(check("better", server.url, { flags: "--cases none.csv --model x" }))
      assert.strictEqual(failed._tag, "Failure")
    })
  )
})
