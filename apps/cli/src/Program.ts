/** This program: its version, and how the user called it. */
import { readFileSync } from "node:fs"
import { Config, Effect, Schema } from "effect"

/** The folder of this package: its manifest is beside `src`, `dist` or a bundle. */
export const folder = new URL("../", import.meta.url)

/** The version of this package. */
export const { version } = Schema.decodeSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))(
  readFileSync(new URL("package.json", folder), "utf8")
)

/** How the user called this program, for the commands that messages suggest: by a script of the repository, through npx, or by name. */
export const programName = Effect.gen(function* () {
  const event = yield* variable("npm_lifecycle_event")
  if (event === "start" || event === "inspo") return "npx pnpm@12 inspo"
  return event === "npx" && /^'?inspo\b/u.test(yield* variable("npm_lifecycle_script")) ? "npx inspo" : "inspo"
})

const variable = (name: string) => Effect.orElseSucceed(Config.String(name), () => "")
