import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { readerHandler, trusting } from "./handler.ts"

export const replay = Command.make(
  "replay",
  {
    directory: Argument.String("dir").pipe(
      Argument.withDescription(
        "Directory of a run, a finished one where settings are changed, or of a served population"
      )
    ),
    set: flags.set.pipe(Flag.withDescription("Play it under another setting of selection or pruning; may be repeated")),
    grid: Flag.String("grid").pipe(
      Flag.withMetavar("KEY=V1,V2,…"),
      Flag.withDescription("Play it under each of several values; given more than once, under all combinations"),
      Flag.atLeast(0)
    ),
    trust: flags.trust,
    json: flags.json
  },
  ({ trust, ...input }) =>
    trusting(
      trust,
      readerHandler(
        () => import("../run/WhatIf.ts"),
        ({ play }) => play(input)
      )
    )
).pipe(
  Command.withDescription(
    "Play a run again from its journal alone, and show the first thing that comes out differently. With --set or --grid: " +
      "what it would have decided under other settings of selection and pruning, by its logged rewards; the policy path is " +
      "held fixed"
  ),
  Command.withShortDescription("Play a run again from its journal, under other settings too"),
  Command.withExamples([
    { command: "inspo replay runs/quick-seed1", description: "Check every decision of that run" },
    { command: "inspo replay runs/mine --set population.window=10", description: "What would a longer memory decide?" },
    { command: "inspo replay served --set risk=0.01", description: "What a served population would have risked" },
    {
      command:
        "inspo replay runs/mine --grid halving.rule=bottom-half,spare-unseen --grid population.ties=order,evidence",
      description: "Four settings at once"
    }
  ])
)
