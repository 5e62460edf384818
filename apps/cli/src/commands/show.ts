import { Argument, Command } from "effect/cli"
import * as flags from "./flags.ts"
import { readerHandler } from "./handler.ts"

export const show = Command.make(
  "show",
  {
    directory: Argument.String("dir").pipe(Argument.withDescription("Directory of a run, finished or not")),
    json: flags.json
  },
  (input) =>
    readerHandler(
      () => import("../run/Show.ts"),
      ({ show }) => show(input)
    )
).pipe(
  Command.withDescription("Tell what happened in a run"),
  Command.withExamples([{ command: "inspo show runs/quick-seed1", description: "Its report, or where it stands" }])
)
