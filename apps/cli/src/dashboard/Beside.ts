import { Effect, Option } from "effect"
import type { Reporter } from "../terminal/Reporter.ts"

/** Serves the dashboard of a directory to this machine while the scope lives, and reports its address. */
export const beside = Effect.fnUntraced(function* (directory: string, reporter: Reporter) {
  const { start } = yield* Effect.promise(() => import("./Serve.ts"))
  const url = yield* start({ directories: [directory], host: "127.0.0.1", port: 0, apiKeyEnv: Option.none() })
  yield* reporter.lines([`Dashboard, until this command ends: ${url}`, ""])
})
