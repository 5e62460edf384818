/** A program that is a server of MCP and sends results that its tools' own output schemas do not allow. */
import { createInterface } from "node:readline"

const hits = (type: string) => ({ type: "object", properties: { hits: { type } }, required: ["hits"] })

const tools = {
  wrong: { output: hits("number"), result: { structuredContent: { hits: "3" } } },
  nothing: { output: hits("number"), result: {} },
  unreadable: { output: hits("no type"), result: { structuredContent: { hits: 3 } } },
  right: { output: hits("number"), result: { structuredContent: { hits: 3 }, content: [{ type: "text", text: "" }] } },
  refusing: { output: hits("number"), result: null }
}

const listed = Object.entries(tools).map(([name, { output }]) => ({
  name,
  inputSchema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
  outputSchema: output
}))

const answer = (method: string, name: keyof typeof tools) => {
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "raw", version: "1" }
        }
      }
    case "tools/list":
      return { result: { tools: listed } }
    case "tools/call": {
      const { result } = tools[name]
      return result === null
        ? { error: { code: -32602, message: "q is too short" } }
        : { result: { content: [{ type: "text", text: "3 hits" }], ...result } }
    }
    default:
      return { error: { code: -32601, message: "no such method" } }
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer(method, params?.name) })}\n`)
})
