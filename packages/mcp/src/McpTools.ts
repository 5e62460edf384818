/** Tools of MCP servers for agents. */
import { Tool } from "@inspo/rollout"
import {
  Client,
  type JsonSchemaType,
  type JsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  StreamableHTTPClientTransport,
  type Tool as McpTool,
  type Transport
} from "@modelcontextprotocol/client"
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv"
import { Effect, RcRef, Result, type Scope } from "effect"
import { McpError, type McpServer, nameOf } from "./McpServer.ts"
import * as ToolText from "./ToolText.ts"

/** `variable` reads a variable of the environment; `timeoutSeconds` bounds connecting, and listing the tools. */
export interface Options {
  readonly variable: (name: string) => string | undefined
  readonly timeoutSeconds: number
}

/**
 * The tools of servers, under the tags of {@link ToolText.tagOf}. Connections, and the programs behind them, live as long as the scope;
 * one that was lost is made again by the next call. What a tool says is wrong with its input is shown to the policy; what else goes
 * wrong is a failure of the tool. Fails where a server cannot be reached, or two tools would have one tag.
 *
 * @example
 * ```ts
 * import * as McpTools from "@inspo/mcp/McpTools"
 * import * as Rollout from "@inspo/rollout"
 * import { Effect, Layer } from "effect"
 *
 * const layer = Layer.unwrap(
 *   Effect.map(
 *     McpTools.make([{ command: ["npx", "-y", "@modelcontextprotocol/server-everything"] }], {
 *       variable: (name) => process.env[name],
 *       timeoutSeconds: 30
 *     }),
 *     (tools) => Rollout.layer({ tools: ["search", "get-sum"] }, { tools })
 *   )
 * )
 * ```
 */
export const make = Effect.fn("McpTools.make")(function* (
  servers: ReadonlyArray<McpServer>,
  options: Options
): Effect.fn.Return<ReadonlyArray<Tool.Tool>, McpError, Scope.Scope> {
  const tools = new Map<string, { readonly tool: Tool.Tool; readonly server: string }>()
  for (const server of servers) {
    const name = nameOf(server)
    for (const tool of yield* toolsOf(server, options)) {
      const other = tools.get(tool.name)
      if (other !== undefined)
        return yield* new McpError({
          server: name,
          reason: `its tool <${tool.name}> is one of ${other.server} too; leave one of the servers out`
        })
      if (!Tool.isName(tool.name))
        return yield* new McpError({
          server: name,
          reason: `its tool ${JSON.stringify(tool.name)} would have a tag that agents use themselves; rename it there`
        })
      tools.set(tool.name, { tool, server: name })
    }
  }
  return Array.from(tools.values(), ({ tool }) => tool)
})

const toolsOf = Effect.fnUntraced(function* (server: McpServer, options: Options) {
  const name = nameOf(server)
  const connection = yield* RcRef.make({ acquire: connect(server, options), idleTimeToLive: "1 hour" })
  const current = Effect.gen(function* () {
    const client = yield* RcRef.get(connection)
    if (client.transport !== undefined) return client
    // The connection was lost.
    yield* RcRef.invalidate(connection)
    return yield* RcRef.get(connection)
  })
  const listed = yield* Effect.scoped(
    Effect.flatMap(current, (client) =>
      Effect.tryPromise({
        try: (signal) => client.listTools(undefined, { signal, timeout: options.timeoutSeconds * 1000 }),
        catch: (cause) => new McpError({ server: name, reason: `its tools cannot be listed: ${textOf(cause)}`, cause })
      })
    )
  )
  return listed.tools.map((tool) => toTool(tool, current))
})

/** The caller of the tool bounds attempts; the client's own limit is longer than any of them. */
const callTimeout = 2 ** 31 - 1

const toTool = (tool: McpTool, current: Effect.Effect<Client, McpError, Scope.Scope>): Tool.Tool => {
  const tag = ToolText.tagOf(tool.name)
  const failure = (cause: unknown) => new Tool.ToolFailure({ tool: tag, reason: textOf(cause), cause })
  const called = Tool.each(tag, ToolText.descriptionOf(tool), (input) =>
    Effect.gen(function* () {
      const given = ToolText.argumentsOf(tool, input)
      if (Result.isFailure(given)) return yield* new Tool.ToolRejection({ reason: given.failure })
      const client = yield* Effect.mapError(current, failure)
      const result = yield* Effect.tryPromise({
        try: (signal) =>
          client.callTool({ name: tool.name, arguments: given.success }, { signal, timeout: callTimeout }),
        catch: (cause) => (isInvalid(cause) ? new Tool.ToolRejection({ reason: cause.message }) : failure(cause))
      })
      const text = ToolText.replyOf(result)
      return result.isError === true ? yield* new Tool.ToolRejection({ reason: text }) : text
    }).pipe(Effect.scoped)
  )
  return { ...called, native: ToolText.nativeOf(tool) }
}

const connect = (server: McpServer, options: Options): Effect.Effect<Client, McpError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const { said, transport } = yield* transportOf(server, options.variable)
      const client = new Client(
        { name: "inspo", version: "1" },
        { versionNegotiation: { mode: "auto" }, jsonSchemaValidator: ofOutput }
      )
      yield* Effect.tryPromise({
        try: (signal) => client.connect(transport, { signal, timeout: options.timeoutSeconds * 1000 }),
        catch: (cause) =>
          new McpError({ server: nameOf(server), reason: `it cannot be reached: ${textOf(cause)}${said()}`, cause })
      }).pipe(Effect.onError(() => Effect.promise(() => client.close())))
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

/** The way to a server, and what its program wrote to standard error last. */
interface Way {
  readonly transport: Transport
  readonly said: () => string
}

const transportOf = (server: McpServer, variable: Options["variable"]): Effect.Effect<Way, McpError> => {
  const given = (name: string): Effect.Effect<string, McpError> => {
    const value = variable(name)
    return value === undefined
      ? Effect.fail(
          new McpError({
            server: nameOf(server),
            reason: `the variable ${name} that it is to be given is not set; set it, or leave it out`
          })
        )
      : Effect.succeed(value)
  }
  return "url" in server
    ? Effect.gen(function* () {
        const headers =
          server.apiKeyEnv === undefined ? {} : { authorization: `Bearer ${yield* given(server.apiKeyEnv)}` }
        const transport = new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } })
        return { transport, said: () => "" }
      })
    : Effect.gen(function* () {
        const [command, ...args] = server.command
        const variables = yield* Effect.forEach(server.env ?? [], (name) =>
          Effect.map(given(name), (value) => [name, value] as const)
        )
        const env = { ...getDefaultEnvironment(), ...Object.fromEntries(variables) }
        const transport = new StdioClientTransport({ command, args, env, stderr: "pipe" })
        let written = ""
        transport.stderr?.on("data", (chunk) => {
          written = `${written}${chunk}`.slice(-saidCharacters)
        })
        return { transport, said: () => (written.trim() === "" ? "" : `; it wrote: ${written.trim()}`) }
      })
}

/** How much of what a program writes to standard error is kept, to be reported if it cannot be reached. */
const saidCharacters = 1000

/**
 * The library reports a result that breaks the tool's output schema with the code of wrong arguments, which would be shown to the
 * policy as its own fault. It passes on errors of the protocol that a validator throws, so this one throws them with another code.
 */
const ofOutput: Pick<AjvJsonSchemaValidator, "getValidator"> = {
  getValidator: <T>(schema: JsonSchemaType): JsonSchemaValidator<T> => {
    const compiled = Result.try(() => new AjvJsonSchemaValidator().getValidator<T>(schema))
    const refuse = (reason: string) => new ProtocolError(ProtocolErrorCode.InternalError, reason)
    return (content) => {
      if (Result.isFailure(compiled)) throw refuse(`its output schema cannot be read: ${textOf(compiled.failure)}`)
      const checked = compiled.success(content)
      if (checked.valid) return checked
      throw refuse(`its result does not fit its own output schema: ${checked.errorMessage}`)
    }
  }
}

/** JSON-RPC's code of arguments that do not fit. */
const invalidParams = -32602

const isInvalid = (cause: unknown): cause is ProtocolError =>
  cause instanceof ProtocolError && cause.code === invalidParams

const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
