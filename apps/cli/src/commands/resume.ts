import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

export const resume = Command.make(
  "resume",
  {
    directory: Argument.String("dir").pipe(Argument.withDescription("Directory of the run to continue")),
    baseline: flags.baseline,
    set: flags.set.pipe(
      Flag.withDescription(
        "Change a setting that decides no results, such as budget.rollouts=20000 or engine.url; may be repeated"
      )
    ),
    acceptLost: Flag.Boolean("accept-lost").pipe(
      Flag.withDescription(
        "Go on although the end of the journal is lost: the lost steps are done again, what they cost stays on the books"
      ),
      Flag.withDefault(false)
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
