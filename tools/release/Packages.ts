import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Schema } from "effect"

const Manifest = Schema.fromJsonString(
  Schema.Struct({ name: Schema.String, version: Schema.String, private: Schema.optionalKey(Schema.Boolean) })
)

export interface Package {
  readonly name: string
  readonly version: string
  readonly folder: string
}

/** The packages of a workspace that are published. */
export const published = (root: string): ReadonlyArray<Package> =>
  globSync("{apps,packages}/*/package.json", { cwd: root })
    .toSorted()
    .flatMap((file) => {
      const manifest = Schema.decodeSync(Manifest)(readFileSync(join(root, file), "utf8"))
      const { name, version } = manifest
      return manifest.private === true ? [] : [{ name, version, folder: join(root, dirname(file)) }]
    })
