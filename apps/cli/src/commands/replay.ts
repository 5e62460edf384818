import { Argument, Command } from "effect/cli"
import * as flags from "./flags.ts"
import { readerHandler } from "./handler.ts"

export const replay = Command.make(
  "replay",
  {
    directory: Argument.String("dir").pipe(Argument.withDescription("Directory of a run, finished or not")),
    json: flags.json
  },
  (input) =>
    readerHandler(
      () => import("../run/Replay.ts"),
      ({ replay }) => replay(input)
    )
).pipe(
  Command.withDescription(
    "Play a run again from its journal alone, and show the first thing that comes out differently"
  ),
  Command.withExamples([{ command: "inspo replay runs/quick-seed1", description: "Check every decision of that run" }])
)
