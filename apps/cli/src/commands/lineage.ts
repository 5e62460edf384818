import { Argument, Command } from "effect/cli"
import * as flags from "./flags.ts"
import { readerHandler } from "./handler.ts"

export const lineage = Command.make(
  "lineage",
  {
    directories: Argument.String("dir").pipe(
      Argument.withDescription("Directories of a run and its branches"),
      Argument.atLeast(1)
    ),
    json: flags.json
  },
  (input) =>
    readerHandler(
      () => import("../run/Lineage.ts"),
      ({ lineage }) => lineage(input)
    )
).pipe(
  Command.withDescription("Show the descent of the instructions of a run and its branches"),
  Command.withExamples([
    { command: "inspo lineage runs/mine runs/longer-memory", description: "Which instruction came from which, where" }
  ])
)
