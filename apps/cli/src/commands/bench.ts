import { Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

const staticVsEvolved = Command.make(
  "static-vs-evolved",
  {
    seeds: Flag.String("seeds").pipe(
      Flag.withMetavar("LIST"),
      Flag.withDescription("Seeds of the main comparison, such as 1-10 or 1,4,7"),
      Flag.withDefault("1-10")
    ),
    furtherSeeds: Flag.String("further-seeds").pipe(
      Flag.withMetavar("LIST"),
      Flag.withDescription("Those of the seeds that the further rows and controls run on"),
      Flag.withDefault("1-3")
    ),
    arms: Flag.String("arms").pipe(
      Flag.withMetavar("LIST"),
      Flag.withDescription("Arms by name, separated by commas; all by default"),
      Flag.optional
    ),
    out: flags.out,
    preset: flags.preset,
    set: flags.set,
    scale: Flag.Literals("scale", ["full", "smoke"]).pipe(
      Flag.withDescription("smoke: a few steps only, to see that every arm runs"),
      Flag.withDefault("full")
    ),
    json: flags.json,
    quiet: flags.quiet
  },
  (input) =>
    handler(
      () => import("../bench/StaticVsEvolved.ts"),
      ({ bench }) => bench(input)
    )
).pipe(
  Command.withDescription("Does co-evolution beat the static instruction at an equal budget? Arms, seeds and controls"),
  Command.withExamples([
    { command: "inspo bench static-vs-evolved --seeds 1-3", description: "All arms on three seeds" },
    {
      command: "inspo bench static-vs-evolved --seeds 1-10 --arms evolved,static",
      description: "The main comparison; finished runs are reused"
    }
  ])
)

const pruning = Command.make(
  "pruning",
  {
    simulations: Flag.Int("simulations").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Simulated populations per rule and world"),
      Flag.withDefault(1000)
    ),
    seed: flags.seed,
    out: flags.out,
    json: flags.json,
    quiet: flags.quiet
  },
  (input) =>
    handler(
      () => import("../bench/Pruning.ts"),
      ({ bench }) => bench(input)
    )
).pipe(
  Command.withDescription(
    "How often does each pruning rule lose the best instruction? A simulation, in about a minute"
  ),
  Command.withExamples([{ command: "inspo bench pruning --json", description: "All rules, as one JSON document" }])
)

export const bench = Command.make("bench").pipe(
  Command.withDescription("Controlled comparisons"),
  Command.withSubcommands([staticVsEvolved, pruning])
)
