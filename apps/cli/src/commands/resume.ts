import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler, trusting } from "./handler.ts"

export const resume = Command.make(
  "resume",
  {
    directory: Argument.String("dir").pipe(Argument.withDescription("Directory of the run to continue")),
    at: Flag.Int("at").pipe(
      Flag.withMetavar("STEP"),
      Flag.withDescription("Continue from this step instead, as a branch in --out; the run itself stays as it is"),
      Flag.optional
    ),
    out: flags.out.pipe(Flag.withDescription("New or empty directory of the branch")),
    set: flags.set.pipe(
      Flag.withDescription(
        "Change a setting that decides no results, such as budget.rollouts=20000 or engine.url; with --at any setting; " +
          "may be repeated"
      )
    ),
    baseline: flags.baseline,
    acceptLost: Flag.Boolean("accept-lost").pipe(
      Flag.withDescription(
        "Go on although the end of the journal is lost: the lost steps are done again, what they cost stays on the books"
      ),
      Flag.withDefault(false)
    ),
    ...flags.tracking,
    trust: flags.trust,
    json: flags.json,
    quiet: flags.quiet
  },
  ({ trust, ...input }) =>
    trusting(
      trust,
      handler(
        () => import("../run/Branch.ts"),
        ({ continueRun }) => continueRun(input)
      )
    )
).pipe(
  Command.withDescription(
    "Continue a run that was stopped; the result is the same as without the stop. With --at, continue a branch of it that " +
      "shares its first steps and goes on under other settings"
  ),
  Command.withShortDescription("Continue a run that was stopped, or a branch of one"),
  Command.withExamples([
    { command: "inspo resume runs/quick-seed1", description: "Continue that run" },
    {
      command: "inspo resume runs/mine --at 30 --set population.window=10 --out runs/longer-memory",
      description: "The same 30 steps, then a longer memory"
    }
  ])
)
