import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

export const evaluate = Command.make(
  "eval",
  {
    directory: Argument.String("dir").pipe(Argument.withDescription("Directory of a run that has a checkpoint")),
    instruction: Flag.String("instruction").pipe(
      Flag.withMetavar("TEXT"),
      Flag.withDescription("Instruction to use instead of the best one of the run"),
      Flag.optional
    ),
    policy: Flag.Literals("policy", ["before", "after"]).pipe(
      Flag.withDescription("The policy before or after training"),
      Flag.withDefault("after")
    ),
    questions: Flag.Int("questions").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Number of test questions; all of them by default"),
      Flag.optional
    ),
    json: flags.json
  },
  (input) =>
    handler(
      () => import("../run/Evaluate.ts"),
      ({ evaluate }) => evaluate(input)
    )
).pipe(
  Command.withDescription("Answer test questions with the policy of a run"),
  Command.withExamples([
    { command: "inspo eval runs/quick-seed1 --questions 100", description: "The trained policy, best instruction" },
    {
      command: 'inspo eval runs/quick-seed1 --policy before --instruction "Answer the question."',
      description: "The policy it started from, under your own words"
    }
  ])
)
