/** A setting whose value is one of several methods, with its parameters. */
import { Equal, Predicate, Record, Schema, SchemaGetter, type Types } from "effect"

/** A method that a setting can name. */
export interface Named {
  readonly name: string
  /** The parameters as published; null where one must be given. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** Schemas of the parameters, where their defaults do not say what they take. */
  readonly parameters?: Schema.Struct.Fields
}

/** A method as a setting has it: its name, and all its parameters. */
export type Of<M extends Named> = M extends { readonly parameters: infer F extends Schema.Struct.Fields }
  ? Types.Simplify<{ readonly name: M["name"] } & Schema.Struct.Type<F>>
  : M extends Named
    ? Types.Simplify<{ readonly name: M["name"] } & { readonly [P in keyof M["defaults"]]: Widened<M["defaults"][P]> }>
    : never

type Widened<V> = V extends number ? number : V extends boolean ? boolean : V extends string ? string : NonNullable<V>

/** A method as users write it: its name alone, or with some of its parameters. */
export type Written<M extends Named> = M["name"] | { readonly name: M["name"]; readonly [parameter: string]: unknown }

/** The schema of such a setting. */
export interface Choice<M extends ReadonlyArray<Named>> extends Schema.Codec<Of<M[number]>, Written<M[number]>> {
  readonly methods: M
}

/**
 * A setting that is one of `methods`: written as its name, or as `{ name, …parameters }`. Parameters that are left out have their
 * defaults; others are an excess property. It is encoded as the name where all parameters have their defaults.
 *
 * @example
 * ```ts
 * import { Choice } from "@inspo/domain"
 * import { Schema } from "effect"
 *
 * const Rule = Choice.of([{ name: "sum", defaults: {} }, { name: "power", defaults: { p: 2 } }], "How to add")
 * Schema.decodeSync(Rule)("power") // { name: "power", p: 2 }
 * Schema.encodeSync(Rule)({ name: "power", p: 3 }) // the same
 * ```
 */
export function of<const M extends ReadonlyArray<Named>>(methods: M, description: string): Choice<M>
export function of(methods: ReadonlyArray<Named>, description: string) {
  const all = methods.map(({ defaults, name, parameters = Record.map(defaults, schemaOf) }) => ({ name, parameters }))
  const written = Schema.Union([
    Schema.Literals(methods.map(({ name }) => name)),
    ...all.map(({ name, parameters }) => structOf(name, Record.map(parameters, Schema.optionalKey)))
  ]).annotate({ description })
  const complete = Schema.Union(all.map(({ name, parameters }) => structOf(name, parameters)))
  return Object.assign(
    written.pipe(
      Schema.decodeTo(complete, {
        decode: SchemaGetter.transform((value) =>
          completed(methods, typeof value === "string" ? { name: value } : value)
        ),
        encode: SchemaGetter.transform((value) =>
          Equal.equals(value, completed(methods, { name: value.name })) ? value.name : value
        )
      })
    ),
    { methods }
  )
}

/** A method with its defaults. */
export const make = <M extends Named>({ defaults, name }: M): { readonly name: M["name"] } & M["defaults"] => ({
  name,
  ...defaults
})

/** A method with the defaults of what `value` leaves out. */
export const completed = (
  methods: ReadonlyArray<Named>,
  value: { readonly name: string }
): { readonly name: string } => {
  const method = methods.find(({ name }) => name === value.name)
  return { ...(method === undefined ? {} : make(method)), ...value }
}

const structOf = (name: string, parameters: Schema.Struct.Fields) =>
  Schema.Struct({ name: Schema.Literal(name), ...parameters })

/** What a parameter takes, by its default. */
const schemaOf = (value: unknown) => {
  if (typeof value === "boolean") return Schema.Boolean
  if (typeof value === "string") return Schema.String
  if (Array.isArray(value)) return Schema.Array(Schema.Finite)
  return Predicate.isObject(value) ? Schema.Record(Schema.String, Schema.Finite) : Schema.Finite
}
