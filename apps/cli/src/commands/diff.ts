import { Argument, Command } from "effect/cli"
import * as flags from "./flags.ts"
import { readerHandler } from "./handler.ts"

const side = (name: string) =>
  Argument.String(name).pipe(
    Argument.withDescription(
      "Directory of a run, DIR:ID for one of its instructions (or DIR:seed, DIR:best), or a text file"
    )
  )

export const diff = Command.make("diff", { from: side("from"), to: side("to"), json: flags.json }, (input) =>
  readerHandler(
    () => import("../run/Diff.ts"),
    ({ diff }) => diff(input)
  )
).pipe(
  Command.withDescription(
    "Tell how two instructions differ, word by word, or how two runs do: settings, best instruction, results"
  ),
  Command.withShortDescription("Compare two instructions, or two runs"),
  Command.withExamples([
    { command: "inspo diff runs/mine:seed runs/mine:best", description: "What co-evolution changed" },
    { command: "inspo diff runs/mine:i3 prompt.txt", description: "Against a text of yours" },
    { command: "inspo diff runs/quick-seed1 runs/quick-seed2 --json", description: "Two runs, as one JSON document" }
  ])
)
