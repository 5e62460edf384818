import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import type { McpServer } from "@inspo/mcp"
import * as McpTools from "@inspo/mcp/McpTools"
import type { Tool } from "@inspo/rollout"
import { Effect, Result, Schedule } from "effect"
import { freePort } from "../cli/FreePort.ts"
import * as Foreign from "./support/Foreign.ts"

const options: McpTools.Options = { variable: () => undefined, timeoutSeconds: 30 }
const script = fileURLToPath(new URL("./python/mcp_server.py", import.meta.url))
const everything = `${Foreign.npmFolder("@modelcontextprotocol/server-everything")}/dist/index.js`

/** A server that is started beside the test, and ends with it. */
const started = (command: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => spawn(command, args, { stdio: "ignore", env: { ...process.env, ...env } })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

/** The tools of a server, once it takes connections. */
const toolsOf = (server: McpServer) =>
  McpTools.make([server], options).pipe(Effect.retry({ times: 100, schedule: Schedule.spaced("200 millis") }))

const ask = (tools: ReadonlyArray<Tool.Tool>, name: string, input: string) => {
  const tool = tools.find((tool) => tool.name === name)
  assert.isDefined(tool, name)
  return Effect.map(tool.run([input]), ([reply]) => {
    assert.isDefined(reply, name)
    return Result.match(reply, { onFailure: ({ reason }) => `refused: ${reason}`, onSuccess: (text) => text })
  })
}

const ofEverything = Effect.fnUntraced(function* (server: McpServer) {
  const tools = yield* toolsOf(server)
  assert.include(yield* ask(tools, "echo", "Lumen Works"), "Lumen Works")
  assert.include(yield* ask(tools, "get-sum", '{"a": 2, "b": 3}'), "5")
  assert.match(yield* ask(tools, "get-sum", '{"a": "two", "b": 3}'), /^refused: .*expected number/su)
  assert.include(yield* ask(tools, "get-tiny-image", "{}"), "[image/png]")
})

const ofPython = Effect.fnUntraced(function* (server: McpServer) {
  const tools = yield* toolsOf(server)
  assert.strictEqual(yield* ask(tools, "founder-of", "Lumen Works"), "Ada Brand")
  assert.match(yield* ask(tools, "founder-of", "Nobody"), /^refused: .*no company called Nobody/su)
  assert.strictEqual(yield* ask(tools, "add-numbers", '{"a": 2}'), "3")
  assert.match(yield* ask(tools, "add-numbers", '{"b": 2}'), /^refused: /u)
})

describe.skipIf(Foreign.problem !== null)("servers of MCP", () => {
  it.live(
    "their reference in TypeScript: what its tools say, over both transports",
    () =>
      Effect.gen(function* () {
        yield* ofEverything({ command: [process.execPath, everything] })
        const port = yield* Effect.promise(freePort)
        yield* started(process.execPath, [everything, "streamableHttp"], { PORT: String(port) })
        yield* ofEverything({ url: `http://127.0.0.1:${port}/mcp` })
        Foreign.record({
          software: "MCP's reference server in TypeScript",
          package: "@modelcontextprotocol/server-everything",
          what: "its tools for agents, by standard input and output and over HTTP: texts, images, arguments that it refuses"
        })
      }),
    60_000
  )

  it.live(
    "their software in Python: what its tools say, over both transports",
    () =>
      Effect.gen(function* () {
        yield* ofPython({ command: [Foreign.python, script] })
        const port = yield* Effect.promise(freePort)
        yield* started(Foreign.python, [script, String(port)])
        yield* ofPython({ url: `http://127.0.0.1:${port}/mcp` })
        Foreign.record({
          software: "MCP's software in Python",
          package: "mcp",
          what: "tools of a server for agents, by standard input and output and over HTTP: texts, optional arguments, errors"
        })
      }),
    60_000
  )
})
