/** A tool of MCP as an agent sees it: a tag, a sentence, an input of text and a reply of text. */
import type { CallToolResult, Tool as McpTool } from "@modelcontextprotocol/client"
import type { Tool } from "@inspo/rollout"
import { Option, Result, Schema } from "effect"

/**
 * The tag of a tool: its name in lower case, with hyphens for what a tag cannot hold.
 *
 * @example
 * ```ts
 * import { ToolText } from "@inspo/mcp"
 *
 * ToolText.tagOf("get_Sum") // "get-sum"
 * ```
 */
export const tagOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, "-")
    .replace(/^[^a-z]+|-+$/gu, "")

/** How the tool is called, what for, and the schema of its input. */
export const descriptionOf = ({ description = "", inputSchema, name }: McpTool): string => {
  const tag = tagOf(name)
  const text = textProperty(inputSchema)
  const { properties = {}, required = [] } = inputSchema
  const input =
    text === null
      ? `Its input is a JSON object. Its fields: ${JSON.stringify(properties)}. Required: ${JSON.stringify(required)}.`
      : `Its input is text: ${JSON.stringify(properties[text])}.`
  return `<${tag}> ${text === null ? "{...}" : "input"}</${tag}> ${description} ${input}`.replace(/\s+/gu, " ")
}

/** The tool as it is offered to a policy with native tool calls. */
export const nativeOf = ({ description = "", inputSchema }: McpTool): NonNullable<Tool.Tool["native"]> => ({
  description,
  parameters: Option.getOrElse(decodeSchema(inputSchema), () => ({ type: "object" }))
})

const decodeSchema = Schema.decodeUnknownOption(Schema.JsonObject)

/** The arguments that an input means: a JSON object, or plain text where the tool takes a single text. */
export const argumentsOf = (
  { inputSchema }: McpTool,
  input: string
): Result.Result<Record<string, unknown>, string> => {
  const text = textProperty(inputSchema)
  const parsed = parse(input)
  if (parsed !== null) return Result.succeed(parsed)
  if (text !== null) return Result.succeed({ [text]: input })
  return Result.fail(`The input must be a JSON object with ${fieldsOf(inputSchema)}.`)
}

/** What a result says: its texts, else, if they are blank, its structured content; what is not a text is named by its kind. */
export const replyOf = ({
  content,
  structuredContent
}: Pick<CallToolResult, "content" | "structuredContent">): string => {
  const texts = content.map((part) => {
    switch (part.type) {
      case "text":
        return part.text
      case "resource":
        return "text" in part.resource ? part.resource.text : `[${part.resource.mimeType ?? "resource"}]`
      case "resource_link":
        return part.uri
      default:
        return `[${part.mimeType}]`
    }
  })
  const text = texts.join("\n")
  return text.trim() !== "" || structuredContent === undefined ? text : JSON.stringify(structuredContent)
}

/** The property that plain text can mean: the only one there is, or the only one required, if it is a text. */
const textProperty = ({ properties = {}, required = [] }: McpTool["inputSchema"]): string | null => {
  const names = Object.keys(properties)
  const [name] = required.length === 1 ? required : names
  if (name === undefined || (required.length !== 1 && names.length !== 1)) return null
  const property = properties[name]
  return typeof property === "object" && property !== null && "type" in property && property.type === "string"
    ? name
    : null
}

const fieldsOf = ({ properties = {}, required = [] }: McpTool["inputSchema"]): string => {
  const names = Object.keys(properties)
  if (names.length === 0) return "no fields: {}"
  return `the fields ${names.map((name) => (required.includes(name) ? name : `${name} (optional)`)).join(", ")}`
}

const parse = (input: string): Record<string, unknown> | null => {
  if (!input.startsWith("{")) return null
  try {
    const value: unknown = JSON.parse(input)
    return typeof value === "object" && value !== null ? { ...value } : null
  } catch {
    return null
  }
}
