/** @module-tag deep */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, it } from "@effect/vitest"
import { Tool } from "@inspo/rollout"
import { Effect, Exit, Layer, Result, Scope } from "effect"
import { McpProtocol, McpServer } from "effect/ai"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { McpError } from "@inspo/mcp"
import * as McpTools from "@inspo/mcp/McpTools"
import * as Tools from "./support/tools.ts"

const program = fileURLToPath(new URL("./support/program.ts", import.meta.url))
const command = [process.execPath, program] as const
const variables: Readonly<Record<string, string>> = { INSPO_TEST_MCP: "old", TOKEN: "secret of the test" }
const options: McpTools.Options = { variable: (name) => variables[name], timeoutSeconds: 20 }

const named = (tools: ReadonlyArray<Tool.Tool>, name: string) => {
  const tool = tools.find((tool) => tool.name === name)
  return {
    ask: (input: string) =>
      tool === undefined ? Effect.die(`no ${name}`) : Effect.map(tool.run([input]), ([reply]) => reply)
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const pidOf = (tools: ReadonlyArray<Tool.Tool>) =>
  Effect.map(named(tools, "process").ask("{}"), (reply) => Number(reply === undefined ? NaN : Result.getOrThrow(reply)))

/** Versions of the server's software write a text as it is, or as JSON. */
const says = (reply: Tool.Reply | undefined, expected: string): void =>
  assert.match(reply === undefined ? "no reply" : Result.getOrElse(reply, String), new RegExp(`^"?${expected}"?$`, "u"))

const answers = Effect.fnUntraced(function* (tools: ReadonlyArray<Tool.Tool>) {
  says(yield* named(tools, "add-numbers").ask('{"a": 2, "b": 3}'), "5")
  says(yield* named(tools, "echo").ask("Lumen Works"), "Lumen Works")
})

for (const [version, env] of [
  ["the newest", []],
  ["an older", ["INSPO_TEST_MCP"]]
] as const)
  it.live(
    `a program that speaks ${version} version is asked, and ends with the scope`,
    () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const tools = yield* McpTools.make([{ command, env }], options).pipe(Scope.provide(scope))
        yield* answers(tools)
        const pid = yield* pidOf(tools)
        assert.isTrue(isAlive(pid))
        yield* Scope.close(scope, Exit.void)
        assert.isFalse(isAlive(pid))
      }),
    30_000
  )

it.live(
  "what is wrong with an input is shown, and a program that died is started again",
  () =>
    Effect.gen(function* () {
      const tools = yield* McpTools.make([{ command }], options)
      for (const [name, input, expected] of [
        ["refuse", "bread", /There is no bread\./u],
        ["add-numbers", "2 + 3", /JSON object with the fields a, b/u],
        ["add-numbers", '{"a": 2}', /b/u]
      ] as const) {
        const reply = yield* named(tools, name).ask(input)
        assert.isTrue(reply !== undefined && Result.isFailure(reply), name)
        if (reply !== undefined && Result.isFailure(reply)) assert.match(reply.failure.message, expected)
      }
      const pid = yield* pidOf(tools)
      const crashed = yield* Effect.flip(named(tools, "crash").ask("{}"))
      assert.instanceOf(crashed, Tool.ToolFailure)
      yield* answers(tools)
      assert.notStrictEqual(yield* pidOf(tools), pid)
      assert.isFalse(isAlive(pid))
    }),
  30_000
)

it.live(
  "a result that breaks the tool's own output schema is a failure of the tool, and wrong input is not",
  () =>
    Effect.gen(function* () {
      const raw = fileURLToPath(new URL("./support/raw.ts", import.meta.url))
      const tools = yield* McpTools.make([{ command: [process.execPath, raw] }], options)
      for (const [name, expected] of [
        ["wrong", /its result does not fit its own output schema: data\/hits must be number/u],
        ["nothing", /did not return structured content/u],
        ["unreadable", /its output schema cannot be read/u]
      ] as const) {
        const failure = yield* Effect.flip(named(tools, name).ask("red mill"))
        assert.instanceOf(failure, Tool.ToolFailure)
        assert.match(failure.message, expected)
      }
      says(yield* named(tools, "right").ask("red mill"), '\\{"hits":3\\}')
      const refused = yield* named(tools, "refusing").ask("red mill")
      assert.isTrue(refused !== undefined && Result.isFailure(refused) && refused.failure.message === "q is too short")
    }),
  30_000
)

it.live(
  "a program is given the variables that are named, and no others",
  () =>
    Effect.gen(function* () {
      process.env["INSPO_TEST_SECRET"] = "not to be passed on"
      const tools = yield* McpTools.make([{ command, env: ["TOKEN"] }], options)
      says(yield* named(tools, "variable").ask("TOKEN"), "secret of the test")
      says(yield* named(tools, "variable").ask("INSPO_TEST_SECRET"), "not set")
      const missing = yield* Effect.flip(McpTools.make([{ command, env: ["NOT_SET"] }], options))
      assert.match(missing.message, /NOT_SET .* not set/u)
    }),
  30_000
)

it.live(
  "what cannot be reached, and tags that are there twice, are told by the server's name",
  () =>
    Effect.gen(function* () {
      const absent = yield* Effect.flip(McpTools.make([{ command: ["no-such-program-of-inspo"] }], options))
      assert.instanceOf(absent, McpError)
      assert.match(absent.message, /no-such-program-of-inspo: it cannot be reached/u)
      const refused = yield* Effect.flip(McpTools.make([{ url: "http://127.0.0.1:9/mcp" }], options))
      assert.match(refused.message, /http:\/\/127\.0\.0\.1:9\/mcp: it cannot be reached/u)
      const twice = yield* Effect.flip(McpTools.make([{ command }, { command: [...command, "again"] }], options))
      assert.match(twice.message, /again: its tool <add-numbers> is one of .* too/u)
    }),
  30_000
)

const guarded = HttpRouter.middleware(
  (handle) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
      headers["authorization"] === "Bearer secret of the test"
        ? handle
        : Effect.succeed(HttpServerResponse.empty({ status: 401 }))
    ),
  { global: true }
)

it.live(
  "a server over HTTP is asked with its key",
  () =>
    Effect.gen(function* () {
      const { address } = yield* HttpServer.HttpServer
      const url = `http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}/mcp`
      yield* answers(yield* McpTools.make([{ url, apiKeyEnv: "TOKEN" }], options))
      const refused = yield* Effect.flip(McpTools.make([{ url }], options))
      assert.notInclude(refused.message, "secret of the test")
    }).pipe(
      Effect.provide(
        HttpRouter.serve(
          Layer.merge(
            guarded,
            McpServer.layerHttp({
              name: "tools of a test",
              version: "1",
              path: "/mcp",
              protocols: [McpProtocol.v2025_11_25],
              registrations: Tools.layer
            })
          ),
          { disableLogger: true, disableListenLog: true }
        ).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })))
      )
    ),
  30_000
)
