/** Where a server of the Model Context Protocol is, and the errors of reaching it. */
import { Schema } from "effect"

const Variables = Schema.Array(Schema.NonEmptyString)

/**
 * A server over HTTP (`url`, and `apiKeyEnv`, the variable with its bearer token), or one that is started (`command`, a program and its
 * arguments without a shell, and `env`, the variables it is given besides `PATH`, `HOME` and their like).
 */
export const McpServer = Schema.Union([
  Schema.Struct({
    url: Schema.String.check(
      Schema.isPattern(/^https?:\/\//u, { expected: "an address beginning with http:// or https://" })
    ),
    apiKeyEnv: Schema.optionalKey(Schema.NonEmptyString)
  }),
  Schema.Struct({ command: Schema.NonEmptyArray(Schema.NonEmptyString), env: Schema.optionalKey(Variables) })
])
export type McpServer = typeof McpServer.Type

/** A server that cannot be reached, or whose tools cannot be offered. */
export class McpError extends Schema.TaggedError<McpError>()("McpError", {
  server: Schema.String,
  reason: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `MCP server ${this.server}: ${this.reason}`
  }
}

/** What a server is called in messages: its address without credentials, or its program. */
export const nameOf = (server: McpServer): string => {
  if ("command" in server) return server.command.join(" ")
  const url = URL.parse(server.url)
  return url === null ? server.url : `${url.origin}${url.pathname}`
}
