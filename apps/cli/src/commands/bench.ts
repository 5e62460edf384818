import { catalogue } from "@inspo/bench/Catalogue"
import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

export const bench = Command.make(
  "bench",
  {
    study: Argument.Literals(
      "study",
      catalogue.map(({ name }) => name)
    ).pipe(Argument.withDescription("The study to make; without one, all are listed"), Argument.optional),
    seeds: Flag.String("seeds").pipe(
      Flag.withMetavar("LIST"),
      Flag.withDescription("Seeds of the main comparison, such as 1-10 or 1,4,7; by default 1-10, for tuning 100-109"),
      Flag.optional
    ),
    furtherSeeds: Flag.String("further-seeds").pipe(
      Flag.withMetavar("LIST"),
      Flag.withDescription(
        "Those of the seeds that the further arms run on; by default all, for when-it-pays 1-3, for tuning 100-102"
      ),
      Flag.optional
    ),
    arms: Flag.String("arms").pipe(
      Flag.withMetavar("LIST"),
      Flag.withDescription("Arms, or tasks of the gate, by name, separated by commas; all by default"),
      Flag.optional
    ),
    preset: Flag.optional(flags.presetName),
    set: flags.set,
    scale: Flag.Literals("scale", ["smoke", "small", "full"]).pipe(
      Flag.withDescription(
        "smoke: a few steps only, to see that every arm runs; small, the default: the embedded engine; full: the paper's " +
          "settings, for an engine of yours"
      ),
      Flag.optional
    ),
    testQuestions: Flag.Int("test-questions").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription(
        "curves: after the runs, let every kept checkpoint answer the first N test questions, and draw their EM; asks for " +
          "--set checkpoint.keep=null, and checkpoint.every says how many steps lie between"
      ),
      Flag.optional
    ),
    simulations: Flag.Int("simulations").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("pruning, verification: simulations per rule and world; 1000 by default"),
      Flag.optional
    ),
    seed: flags.seed.pipe(Flag.withDescription("gate, pruning, verification: the first seed; 1 by default")),
    out: flags.out.pipe(Flag.withDescription("Directory for everything that is written; studies may share one")),
    json: flags.json,
    quiet: flags.quiet
  },
  (input) =>
    handler(
      () => import("../bench/Bench.ts"),
      ({ bench }) => bench(input)
    )
).pipe(
  Command.withDescription(
    [
      "Controlled comparisons, by study:",
      "",
      ...catalogue.map(({ asks, name }) => `  ${name.padEnd(17)}  ${asks}`)
    ].join("\n")
  ),
  Command.withShortDescription("Compare methods, parts and rules over seeds"),
  Command.withExamples([
    { command: "inspo bench static-vs-evolved --seeds 1-3", description: "All arms on three seeds" },
    { command: "inspo bench ablation --scale smoke --seeds 1", description: "Does every arm run?" },
    { command: "inspo bench pruning --json", description: "A simulation, as one JSON document" }
  ])
)
