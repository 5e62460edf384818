import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { parse } from "yaml"
import { root } from "./Workspace.ts"

const Versions = Schema.Record(Schema.String, Schema.String)
const { catalog, catalogs } = Schema.decodeUnknownSync(
  Schema.Struct({ catalog: Versions, catalogs: Schema.Struct({ peer: Versions }) })
)(parse(readFileSync(join(root, "pnpm-workspace.yaml"), "utf8")))

/** The version of effect that everything is developed and tested with. */
export const developed = catalog["effect"] ?? ""

/** The versions of effect that published packages take. */
export const range = catalogs.peer["effect"] ?? ""
