import { Config, Effect, Option } from "effect"

/** How the user called this program, for the commands that messages suggest: through a script of the repository or by name. */
export const programName = Effect.gen(function* () {
  const script = yield* Effect.orElseSucceed(Config.option(Config.String("npm_lifecycle_event")), () =>
    Option.none<string>()
  )
  return Option.contains(script, "start") || Option.contains(script, "inspo") ? "npx pnpm@12 inspo" : "inspo"
})
