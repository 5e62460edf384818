import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

export const fork = Command.make(
  "fork",
  {
    directory: Argument.String("dir").pipe(Argument.withDescription("Directory of the run to branch off")),
    at: Flag.Int("at").pipe(
      Flag.withMetavar("STEP"),
      Flag.withDescription("The last step that the branch shares with the run")
    ),
    set: flags.set,
    out: Flag.String("out").pipe(
      Flag.withMetavar("DIR"),
      Flag.withDescription("New or empty directory for the branch")
    ),
    json: flags.json
  },
  (input) =>
    handler(
      () => import("../run/Fork.ts"),
      ({ fork }) => fork(input)
    )
).pipe(
  Command.withDescription("Make a branch of a run that goes on from a step under other settings; resume continues it"),
  Command.withExamples([
    {
      command: "inspo fork runs/mine --at 30 --set population.window=10 --out runs/longer-memory",
      description: "The same 30 steps, then a longer memory"
    }
  ])
)
