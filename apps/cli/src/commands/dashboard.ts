import { Argument, Command } from "effect/cli"
import * as flags from "./flags.ts"
import { handler, trusting } from "./handler.ts"

export const dashboard = Command.make(
  "dashboard",
  {
    directories: Argument.String("dir").pipe(
      Argument.withDescription("Directories of runs, or with runs in them; runs by default"),
      Argument.variadic()
    ),
    ...flags.address(8088, "the password that the browser asks for"),
    trust: flags.trust,
    json: flags.json
  },
  ({ directories, trust, ...input }) =>
    trusting(
      trust,
      handler(
        () => import("../dashboard/Serve.ts"),
        ({ serve }) => serve({ ...input, directories: directories.length === 0 ? ["runs"] : directories })
      )
    )
).pipe(
  Command.withDescription(
    "Watch runs in a browser while they go on, and look into finished ones, until Ctrl-C. Runs are only read"
  ),
  Command.withShortDescription("Watch runs in a browser"),
  Command.withExamples([
    { command: "inspo dashboard", description: "All runs in runs/, on http://127.0.0.1:8088" },
    { command: "inspo dashboard runs/quick-seed1 runs/quick-seed2", description: "Two runs, to compare" }
  ])
)
