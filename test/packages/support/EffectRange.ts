import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { parse } from "yaml"
import { run } from "./Process.ts"
import { root } from "./Workspace.ts"

const Versions = Schema.Record(Schema.String, Schema.String)
const { catalog, catalogs } = Schema.decodeUnknownSync(
  Schema.Struct({ catalog: Versions, catalogs: Schema.Struct({ peer: Versions }) })
)(parse(readFileSync(join(root, "pnpm-workspace.yaml"), "utf8")))

/** The version of effect that everything is developed and tested with. */
export const developed = catalog["effect"] ?? ""

/** The versions of effect that published packages take. */
export const range = catalogs.peer["effect"] ?? ""

/** The newest version in the range that npm has. */
export const newest = async (): Promise<string> => {
  const { code, output, stdout } = await run("npm", ["view", `effect@${range}`, "version", "--json"], root)
  if (code !== 0) throw new Error(`npm cannot name the versions of effect:\n${output}`)
  return [decode(stdout)].flat().at(-1) ?? developed
}

const decode = Schema.decodeSync(Schema.fromJsonString(Schema.Union([Schema.String, Schema.Array(Schema.String)])))
