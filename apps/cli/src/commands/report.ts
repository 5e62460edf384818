import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { readerHandler } from "./handler.ts"

export const report = Command.make(
  "report",
  {
    directory: Argument.String("dir").pipe(Argument.withDescription("Directory of a run, finished or not")),
    out: Flag.String("out").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("File to write; DIR/report.html by default, - for standard output"),
      Flag.optional
    ),
    format: Flag.Literals("format", ["html", "md"]).pipe(
      Flag.withDescription("One self-contained HTML file, or Markdown of a finished run"),
      Flag.withDefault("html")
    ),
    json: flags.json
  },
  (input) =>
    readerHandler(
      () => import("../report/Write.ts"),
      ({ report }) => report(input)
    )
).pipe(
  Command.withDescription(
    "Write a report of a run that can be sent: figures, the winning instruction, how it came about"
  ),
  Command.withShortDescription("Write a report of a run"),
  Command.withExamples([
    { command: "inspo report runs/quick-seed1", description: "runs/quick-seed1/report.html, to open in any browser" },
    { command: "inspo report runs/quick-seed1 --format md --out -", description: "Markdown on standard output" }
  ])
)
