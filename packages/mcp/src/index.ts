/** Tools of servers of the Model Context Protocol. */
export { McpError, McpServer, nameOf } from "./McpServer.ts"
export * as ToolText from "./ToolText.ts"
