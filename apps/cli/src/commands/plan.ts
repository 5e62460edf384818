import { Argument, Command } from "effect/cli"
import * as flags from "./flags.ts"
import { readerHandler } from "./handler.ts"

export const plan = Command.make(
  "plan",
  {
    file: Argument.String("config").pipe(Argument.withDescription("YAML file with settings"), Argument.optional),
    preset: flags.preset,
    set: flags.set,
    ablate: flags.ablate,
    seed: flags.seed,
    json: flags.json
  },
  (input) =>
    readerHandler(
      () => import("../run/Plan.ts"),
      ({ plan }) => plan(input)
    )
).pipe(
  Command.withDescription(
    "Tell what a run would do and spend: schedule, rollouts, proposer calls, resolution, warnings"
  ),
  Command.withShortDescription("Tell what a run would do and spend, before it does"),
  Command.withExamples([
    { command: "inspo plan --preset paper", description: "The paper's run" },
    { command: "inspo plan my.yaml --set schedule.pruneEvery=10 --json", description: "Your settings, one JSON line" }
  ])
)
