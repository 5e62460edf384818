import { Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler } from "./handler.ts"

const study = (name: string, description: string, seeds: string) =>
  Command.make(
    name,
    {
      seeds: Flag.String("seeds").pipe(
        Flag.withMetavar("LIST"),
        Flag.withDescription("Seeds of the main comparison, such as 1-10 or 1,4,7"),
        Flag.withDefault(seeds)
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
      preset: Flag.optional(flags.presetName),
      set: flags.set,
      scale: Flag.Literals("scale", ["smoke", "small", "full"]).pipe(
        Flag.withDescription(
          "smoke: a few steps only, to see that every arm runs; small: the embedded engine; full: the paper's settings, " +
            "for an engine of yours"
        ),
        Flag.withDefault("small")
      ),
      json: flags.json,
      quiet: flags.quiet
    },
    (input) =>
      handler(
        () => import("../bench/RunStudy.ts"),
        ({ runStudy }) => runStudy({ ...input, study: name })
      )
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([
      { command: `inspo bench ${name} --seeds 1-3`, description: "All arms on three seeds" },
      { command: `inspo bench ${name} --scale smoke --seeds 1`, description: "Does every arm run?" }
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

const verification = Command.make(
  "verification",
  {
    simulations: Flag.Int("simulations").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Simulated rounds per rule and world"),
      Flag.withDefault(1000)
    ),
    seed: flags.seed,
    out: flags.out,
    json: flags.json,
    quiet: flags.quiet
  },
  (input) =>
    handler(
      () => import("../bench/Verification.ts"),
      ({ bench }) => bench(input)
    )
).pipe(
  Command.withDescription(
    "What does verification take, and how often is it wrong? A simulation of early stops and reuse, in about a minute"
  ),
  Command.withExamples([{ command: "inspo bench verification --json", description: "All rules, as one JSON document" }])
)

export const bench = Command.make("bench").pipe(
  Command.withDescription("Controlled comparisons"),
  Command.withSubcommands([
    study(
      "static-vs-evolved",
      "Does co-evolution beat the static instruction at an equal budget? Arms, seeds and controls",
      "1-10"
    ),
    study("table1", "How do the methods of the paper's Table 1 compare, by kind of question?", "1-10"),
    study("ablation", "What is each part worth? The stage of evolution, the proposer, the population", "1-3"),
    study("proposers", "Does it pay to reflect on failures? Four proposers with one clause bank", "1-10"),
    study("sensitivity", "How much do the number of parents and the temperature of the sampler matter?", "1-3"),
    study("curves", "How do reward, tool calls and lengths move while training goes on? Four figures", "1-3"),
    study("when-it-pays", "How does the gain depend on how rare the useful behaviour is, and on the budget?", "1-3"),
    pruning,
    verification
  ])
)
