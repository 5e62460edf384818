import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { readerHandler } from "./handler.ts"

export const whatif = Command.make(
  "whatif",
  {
    directory: Argument.String("dir").pipe(Argument.withDescription("Directory of a finished run")),
    set: flags.set,
    grid: Flag.String("grid").pipe(
      Flag.withMetavar("KEY=V1,V2,…"),
      Flag.withDescription("Ask for each of several values; given more than once, for all combinations"),
      Flag.atLeast(0)
    ),
    json: flags.json
  },
  (input) =>
    readerHandler(
      () => import("../run/WhatIf.ts"),
      ({ whatif }) => whatif(input)
    )
).pipe(
  Command.withDescription(
    "Refold the logged rewards of a run under other settings of selection and pruning; the policy path is held fixed"
  ),
  Command.withExamples([
    { command: "inspo whatif runs/mine --set population.window=10", description: "Longer memory" },
    {
      command: "inspo whatif runs/mine --grid population.unseen=zero,mean --grid population.parentChoice=weight,pareto",
      description: "Four settings at once"
    }
  ])
)
