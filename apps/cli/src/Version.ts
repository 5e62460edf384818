import { readFileSync } from "node:fs"
import { Schema } from "effect"

const Manifest = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))

/** The version of this package. Its manifest is beside `src` and beside `dist`. */
export const { version } = Schema.decodeSync(Manifest)(
  readFileSync(new URL("../package.json", import.meta.url), "utf8")
)
