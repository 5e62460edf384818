/** The page of the instruction server's API, generated from its OpenAPI document. */
import { Api } from "@inspo/serve"
import { OpenApi } from "effect/http-api"
import { Schema } from "effect"
import { page, table } from "./markdown.ts"

/** The OpenAPI 3.1 document of the instruction server. */
export const openApi = OpenApi.fromApi(Api)

/** The part of JSON Schema that the API is described in. */
interface Node {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Node>
  readonly items?: Node
  readonly prefixItems?: ReadonlyArray<Node>
  readonly required?: ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, Node>>
  readonly additionalProperties?: boolean | Node
  readonly maxLength?: number
}

const Node: Schema.Codec<Node> = Schema.suspend(() =>
  Schema.Struct({
    $ref: Schema.optionalKey(Schema.String),
    type: Schema.optionalKey(Schema.String),
    description: Schema.optionalKey(Schema.String),
    enum: Schema.optionalKey(Schema.Array(Schema.Unknown)),
    anyOf: Schema.optionalKey(Schema.Array(Node)),
    items: Schema.optionalKey(Node),
    prefixItems: Schema.optionalKey(Schema.Array(Node)),
    required: Schema.optionalKey(Schema.Array(Schema.String)),
    properties: Schema.optionalKey(Schema.Record(Schema.String, Node)),
    additionalProperties: Schema.optionalKey(Schema.Union([Schema.Boolean, Node])),
    maxLength: Schema.optionalKey(Schema.Int)
  })
)

const Content = Schema.Record(Schema.String, Schema.Struct({ schema: Node }))
const Operation = Schema.Struct({
  summary: Schema.String,
  description: Schema.optionalKey(Schema.String),
  security: Schema.Array(Schema.Record(Schema.String, Schema.Array(Schema.String))),
  parameters: Schema.Array(Schema.Struct({ name: Schema.String, in: Schema.String, schema: Node })),
  requestBody: Schema.optionalKey(Schema.Struct({ content: Content })),
  responses: Schema.Record(Schema.String, Schema.Struct({ content: Schema.optionalKey(Content) }))
})
const Document = Schema.Struct({
  info: Schema.Struct({ description: Schema.String }),
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation)),
  components: Schema.Struct({ schemas: Schema.Record(Schema.String, Node) })
})

export const apiPage = (): string => {
  const { components, info, paths } = Schema.decodeUnknownSync(Document)(openApi)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, operation }))
  )
  return page(
    "Instruction server",
    `${info.description} The same as [OpenAPI 3.1](openapi.json). A key is sent as \`authorization: Bearer KEY\`; on loopback none ` +
      "is needed. A refused request is answered with an RFC 9457 problem (`application/problem+json`) and the status listed with its name below.",
    ...operations.flatMap(({ operation, title }) => [
      `## ${title}`,
      [operation.summary, operation.description]
        .map((text = "") => text.replace(/\.$/u, ""))
        .join(". ")
        .replace(/[. ]*$/u, "."),
      table(
        ["", "holds"],
        [
          ...operation.parameters.map(({ name, schema }) => [`\`${name}\``, sentence(schema)]),
          ...contentRow("body", operation.requestBody?.content),
          ...Object.entries(operation.responses).map(([status, { content }]) => [status, held(content)]),
          ["key", operation.security.map((one) => Object.keys(one).map((name) => `\`${name}\``)).join(", ") || "none"]
        ]
      )
    ]),
    "# Schemas",
    ...Object.entries(components.schemas)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, node]) => [`## ${name}`, ...schemaParts(node)])
  )
}

const contentRow = (name: string, content: typeof Content.Type | undefined) =>
  content === undefined ? [] : [[name, held(content)]]

const held = (content: typeof Content.Type | undefined): string =>
  content === undefined
    ? "nothing"
    : Object.values(content)
        .map(({ schema }) => takes(schema))
        .join(" or ")

const schemaParts = (node: Node): ReadonlyArray<string> => [
  node.description === undefined ? "" : `${node.description}.`,
  node.properties === undefined ? `${takes({ ...node, description: "" })}.` : fieldTable(node)
]

const fieldTable = ({ properties = {}, required = [] }: Node): string =>
  table(
    ["field", "meaning", "takes"],
    Object.entries(properties).map(([name, node]) => [
      `\`${name}\`${required.includes(name) ? "" : " (may be absent)"}`,
      node.description ?? "",
      takes(node)
    ])
  )

const sentence = (node: Node): string => node.description ?? takes(node)

/** The values of a node in words, with links to named schemas. */
const takes = (node: Node): string => {
  if (node.$ref !== undefined) {
    const name = node.$ref.split("/").at(-1) ?? ""
    return `[${name}](#${name.toLowerCase()})`
  }
  if (node.anyOf !== undefined) return node.anyOf.map(takes).join(" or ")
  if (node.enum !== undefined) return node.enum.map((value) => `\`${String(value)}\``).join(", ")
  switch (node.type) {
    case "string":
      return node.maxLength === undefined ? "text" : `text of at most ${node.maxLength} characters`
    case "integer":
      return "whole number"
    case "boolean":
      return "true or false"
    case "array":
      return node.prefixItems === undefined
        ? `list of ${takes(node.items ?? {})}`
        : `[${node.prefixItems.map(takes).join(", ")}]`
    case "object":
      return node.properties === undefined
        ? `mapping of names to ${typeof node.additionalProperties === "object" ? takes(node.additionalProperties) : "any value"}`
        : `{${Object.entries(node.properties)
            .map(([name, one]) => `\`${name}\`: ${takes(one)}`)
            .join("; ")}}`
    default:
      return node.type ?? "any value"
  }
}
