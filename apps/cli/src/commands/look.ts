/** The verbs that show and export runs. */
import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler, reader, trusting } from "./handler.ts"

export const show = Command.make(
  "show",
  {
    directories: flags
      .argument(
        "dir",
        "Directory of a run or of an `inspo evolve`, finished or not, or of served populations; " +
          "or an instruction (DIR:ID, DIR:seed, DIR:best). Of two the instructions are compared word by word: those named, text files, or the best ones of runs"
      )
      .pipe(Argument.atLeast(1)),
    lineage: flags.toggle("lineage", "Show which instruction came from which"),
    report: flags.optionalChoice(
      "report",
      ["html", "md"],
      "Write a report to a file: HTML with figures, or Markdown of a finished run"
    ),
    out: flags.optionalText(
      "out",
      "FILE",
      "Where to write the report; DIR/report.html or .md by default, - for standard output"
    ),
    trust: flags.trust,
    json: flags.json
  },
  trusting(reader(async () => (await import("../run/View.ts")).view))
).pipe(
  flags.help({
    short: "Show a run, compare instructions, draw lineage, write a report",
    description:
      "Show what happened in a run and what it cost, or how far it is; compare two instructions word by " +
      "word; show the lineage of instructions; or write a report",
    examples: {
      "inspo show runs/quick-seed1": "What happened, or how far it is",
      "inspo show served": "The populations of `inspo serve`",
      "inspo show runs/evolve-prompt": "A search for a better prompt: its verdict, or how far it is",
      "inspo show runs/quick-seed1 --report html": "runs/quick-seed1/report.html, for any browser",
      "inspo show runs/quick-seed1 --report md --out -": "Markdown on standard output",
      "inspo show runs/mine:seed runs/mine:best": "What co-evolution changed, word by word",
      "inspo show runs/mine:i3 prompt.txt": "An instruction and a text file",
      "inspo show runs/quick-seed1 runs/quick-seed2": "The best instructions of two runs",
      "inspo show runs/mine --lineage": "Which instruction came from which"
    }
  })
)

export const dashboard = Command.make(
  "dashboard",
  {
    directories: flags
      .argument("dir", "Directories of runs and searches, or with some in them; runs by default")
      .pipe(Argument.variadic()),
    ...flags.address(8088, "the password that the browser asks for"),
    trust: flags.trust,
    json: flags.json
  },
  trusting(handler(async () => (await import("../dashboard/Serve.ts")).serve))
).pipe(
  flags.help({
    short: "Watch runs and searches in a browser",
    description:
      "Watch runs, and searches for better prompts, in a browser while they last, and inspect finished ones, until Ctrl-C. They are " +
      "only read",
    examples: {
      "inspo dashboard": "All runs in runs/, on http://127.0.0.1:8088",
      "inspo dashboard runs/quick-seed1 runs/quick-seed2": "Two runs, to compare",
      "inspo dashboard runs/evolve-prompt": "A search of `inspo evolve`"
    }
  })
)

export const replay = Command.make(
  "replay",
  {
    directory: flags.argument("dir", "Directory of a run, or of a served population"),
    trust: flags.trust,
    json: flags.json
  },
  trusting(reader(async () => (await import("../run/Replay.ts")).replay))
).pipe(
  flags.help({
    short: "Repeat every decision of a run from its journal",
    description:
      "Repeat every decision of a run or of a served population from its journal alone, and report the first difference",
    examples: {
      "inspo replay runs/quick-seed1": "Check every decision of that run"
    }
  })
)

export const exportRun = Command.make(
  "export",
  {
    directory: flags.argument("dir", "Directory of a finished run, or of a served population"),
    out: flags.text("out", "DIR", "New or empty directory for the files to deploy"),
    internalize: flags.optionalInteger(
      "internalize",
      "Train the policy with so many updates to act under the seed instruction as under the best one, such as 240",
      "UPDATES"
    ),
    clauses: flags.toggle(
      "clauses",
      "With --internalize: also train on questions about each clause of that instruction"
    ),
    set: flags.set.pipe(
      Flag.withDescription("With --internalize: change the deployment, such as engine.url; may be repeated")
    ),
    trust: flags.trust,
    json: flags.json
  },
  trusting(handler(async () => (await import("../run/Export.ts")).exportRun))
).pipe(
  flags.help({
    short: "Write policy and instruction of a finished run for deployment",
    description:
      "Write policy, tokenizer and best instruction of a finished run for deployment, or the incumbent of a served population and the reason",
    examples: {
      "inspo export runs/mine --out deployed": "A folder to serve from",
      "inspo export runs/mine --out deployed --internalize 240": "A policy that needs its instruction no more"
    }
  })
)
