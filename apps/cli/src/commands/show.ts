import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { readerHandler, trusting } from "./handler.ts"

export const show = Command.make(
  "show",
  {
    directories: Argument.String("dir").pipe(
      Argument.withDescription(
        "Directory of a run, finished or not, or of served populations; with --lineage also those of its branches. Two are compared: runs, " +
          "instructions (DIR:ID, DIR:seed, DIR:best), text files"
      ),
      Argument.atLeast(1)
    ),
    lineage: Flag.Boolean("lineage").pipe(
      Flag.withDescription("Show which instruction came from which, over a run and its branches"),
      Flag.withDefault(false)
    ),
    report: Flag.Literals("report", ["html", "md"]).pipe(
      Flag.withDescription(
        "Write a report that can be sent: one HTML file with figures, or Markdown of a finished run"
      ),
      Flag.optional
    ),
    out: Flag.String("out").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Where to write the report; DIR/report.html or .md by default, - for standard output"),
      Flag.optional
    ),
    trust: flags.trust,
    json: flags.json
  },
  ({ trust, ...input }) =>
    trusting(
      trust,
      readerHandler(
        () => import("../run/View.ts"),
        ({ view }) => view(input)
      )
    )
).pipe(
  Command.withDescription(
    "Tell what happened in a run and what it cost, or where it stands; compare two runs, or two instructions word by " +
      "word; show the descent of instructions, or write a report"
  ),
  Command.withShortDescription("Tell what happened in a run, compare two, draw lineage, report"),
  Command.withExamples([
    { command: "inspo show runs/quick-seed1", description: "What happened, or where it stands" },
    { command: "inspo show served", description: "The populations that `inspo serve` keeps there" },
    {
      command: "inspo show runs/quick-seed1 --report html",
      description: "runs/quick-seed1/report.html, for any browser"
    },
    { command: "inspo show runs/quick-seed1 --report md --out -", description: "Markdown on standard output" },
    { command: "inspo show runs/mine:seed runs/mine:best", description: "What co-evolution changed, word by word" },
    { command: "inspo show runs/mine:i3 prompt.txt", description: "Against a text of yours" },
    { command: "inspo show runs/quick-seed1 runs/quick-seed2 --json", description: "Two runs, as one JSON document" },
    {
      command: "inspo show runs/mine runs/longer-memory --lineage",
      description: "Which instruction came from which, and where"
    }
  ])
)
