import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

export const resume = Command.make(
  "resume",
  {
    directory: Argument.String("dir").pipe(Argument.withDescription("Directory of the run to continue")),
    baseline: Flag.Boolean("baseline").pipe(
      Flag.withDescription("Compare with the static instruction at the same budget; --no-baseline leaves it out"),
      Flag.withDefault(true)
    ),
    set: flags.set.pipe(
      Flag.withDescription("Raise a limit of the budget, such as budget.rollouts=20000; nothing else")
    ),
    ...flags.tracking,
    json: flags.json,
    quiet: flags.quiet
  },
  (input) =>
    handler(
      () => import("../run/Resume.ts"),
      ({ resume }) => resume(input)
    )
).pipe(
  Command.withDescription("Continue a run that was stopped; the result is the same as without the stop"),
  Command.withExamples([{ command: "inspo resume runs/quick-seed1", description: "Continue that run" }])
)
