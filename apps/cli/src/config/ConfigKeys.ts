/** All keys of a config with their types and meanings, from its Schema. */
import { RunConfig } from "@inspo/config"
import { Record, Schema, Struct } from "effect"

/** A key by its dotted path; a section has further keys and no value. */
export interface ConfigKey {
  readonly path: string
  readonly isSection: boolean
  /** The type of its values, such as `whole number > 0 or null`; empty for a section. */
  readonly takes: string
  readonly meaning: string
}

/** The subset of JSON Schema (2020-12) that describes configs and events. */
export interface Node {
  readonly type?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<string | number>
  readonly anyOf?: ReadonlyArray<Node>
  readonly items?: Node
  readonly required?: ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, Node>>
  readonly additionalProperties?: boolean | Node
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
}

const Node: Schema.Codec<Node> = Schema.suspend(() =>
  Schema.Struct({
    type: Schema.optionalKey(Schema.String),
    description: Schema.optionalKey(Schema.String),
    enum: Schema.optionalKey(Schema.Array(Schema.Union([Schema.String, Schema.Finite]))),
    anyOf: Schema.optionalKey(Schema.Array(Node)),
    items: Schema.optionalKey(Node),
    required: Schema.optionalKey(Schema.Array(Schema.String)),
    properties: Schema.optionalKey(Schema.Record(Schema.String, Node)),
    additionalProperties: Schema.optionalKey(Schema.Union([Schema.Boolean, Node])),
    minimum: Schema.optionalKey(Schema.Finite),
    maximum: Schema.optionalKey(Schema.Finite),
    exclusiveMinimum: Schema.optionalKey(Schema.Finite),
    exclusiveMaximum: Schema.optionalKey(Schema.Finite)
  })
)

/** The JSON Schema of a Schema without definitions. */
export const nodeOf = (schema: Schema.Constraint): Node =>
  Schema.decodeSync(Node)(Schema.toJsonSchemaDocument(schema).schema)

const root = nodeOf(RunConfig)

/** Mappings that are written as one value, or as the path of a file. A section whose keys users set one by one is not one of them. */
const oneValue: ReadonlySet<string> = new Set(["control", "keys", "rollout.texts"])

/** Sections before the keys in them, in the order of the Schema. */
export const configKeys: ReadonlyArray<ConfigKey> = keysOf(root, "")

/** The JSON Schema (2020-12) of a config file, for completion and checks in editors. All keys are optional. */
export const jsonSchema: Readonly<Record<string, unknown>> = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Settings of an inspo run",
  ...partial(root)
}

function keysOf({ properties = {} }: Node, path: string): ReadonlyArray<ConfigKey> {
  return Object.entries(properties).flatMap(([name, node]) => {
    const key = { path: path === "" ? name : `${path}.${name}`, meaning: node.description ?? "" }
    return node.properties === undefined || oneValue.has(key.path)
      ? [{ ...key, isSection: false, takes: takes(node) }]
      : [{ ...key, isSection: true, takes: "" }, ...keysOf(node, key.path)]
  })
}

/** The same without required keys. */
function partial(node: Node): Node {
  if (node.anyOf !== undefined) return { ...node, anyOf: node.anyOf.map(partial) }
  return node.properties === undefined
    ? closed(node)
    : {
        ...Struct.omit(node, ["required"]),
        properties: Record.map(node.properties, partial),
        additionalProperties: false
      }
}

/** The same without additional keys, also in list elements and alternatives. */
function closed({ anyOf, items, ...node }: Node): Node {
  return {
    ...node,
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(closed) }),
    ...(node.additionalProperties === true ? { additionalProperties: false } : {}),
    ...(items === undefined ? {} : { items: closed(items) })
  }
}

export function takes(node: Node): string {
  if (node.anyOf !== undefined) {
    const [names, ...methods] = node.anyOf
    return methods.length > 0 && methods.every(({ properties }) => properties?.name?.enum?.length === 1)
      ? `${takes(names ?? {})}, or one as {name, …} with its parameters`
      : node.anyOf.map(takes).join(" or ")
  }
  if (node.enum !== undefined) return node.enum.map((value) => `\`${value}\``).join(", ")
  switch (node.type) {
    case "null":
      return "null"
    case "boolean":
      return "true or false"
    case "string":
      return "text"
    case "integer":
      return `whole number${range(node)}`
    case "number":
      return `number${range(node)}`
    case "array":
      return `list of ${takes(node.items ?? {})}`
    case "object":
      if (node.properties !== undefined) return `{${Object.keys(node.properties).join(", ")}}`
      return typeof node.additionalProperties === "object"
        ? `mapping of names to ${takes(node.additionalProperties)}`
        : "mapping"
    default:
      return "any value"
  }
}

function range({ exclusiveMaximum, exclusiveMinimum, maximum, minimum }: Node): string {
  const low = isBound(minimum) ? ` ≥ ${minimum}` : isBound(exclusiveMinimum) ? ` > ${exclusiveMinimum}` : ""
  const high = isBound(maximum) ? ` ≤ ${maximum}` : isBound(exclusiveMaximum) ? ` < ${exclusiveMaximum}` : ""
  return low !== "" && high !== "" ? `${low} and${high}` : low + high
}

/** Omits the bounds of safe integers. */
function isBound(value: number | undefined): value is number {
  return value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER
}
