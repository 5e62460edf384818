import { Argument, Command, Flag } from "effect/cli"
import { Method } from "@inspo/coevolution/Method"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

export const run = Command.make(
  "run",
  {
    file: Argument.String("config").pipe(Argument.withDescription("YAML file with settings"), Argument.optional),
    preset: flags.preset,
    method: Flag.Literals("method", Method.literals).pipe(
      Flag.withDescription(
        "Co-evolution, GRPO under one instruction with tools (grpo-static) or without (grpo), rejection sampling, or " +
          "supervised learning without tools (sft) or with them (sft-tool)"
      ),
      Flag.withDefault("inspo")
    ),
    set: flags.set,
    ablate: flags.ablate,
    seed: flags.seed,
    out: flags.out,
    baseline: flags.baseline,
    dashboard: Flag.Boolean("dashboard").pipe(
      Flag.withDescription("Show the run in a browser while it goes on; prints the address"),
      Flag.withDefault(false)
    ),
    ...flags.tracking,
    json: flags.json,
    quiet: flags.quiet
  },
  (input) =>
    handler(
      () => import("../run/Start.ts"),
      ({ start }) => start(input)
    )
).pipe(
  Command.withDescription("Co-evolve the policy and its instruction"),
  Command.withExamples([
    { command: "inspo run", description: "A whole run on the embedded defaults" },
    { command: "inspo run --preset quick --seed 7 --set schedule.steps=20", description: "A shorter one" },
    { command: "inspo run my.yaml --out runs/mine --json", description: "Your settings, one JSON line as the result" }
  ])
)
