import { Argument, Command, Flag } from "effect/cli"
import * as flags from "../../../apps/cli/src/commands/flags.ts"
import { handler } from "../../../apps/cli/src/commands/handler.ts"
import { catalogue } from "../src/Catalogue.ts"

/** The command line of the studies. */
export const research = Command.make(
  "research",
  {
    study: Argument.Literals(
      "study",
      catalogue.map(({ name }) => name)
    ).pipe(Argument.withDescription("Study to run; without one, all studies are listed"), Argument.optional),
    seeds: flags.optionalText(
      "seeds",
      "LIST",
      "Seeds of the main comparison, such as 1-10 or 1,4,7; by default those of its plan"
    ),
    furtherSeeds: flags.optionalText("further-seeds", "LIST", "Seeds of the further arms; by default all"),
    arms: flags.optionalText(
      "arms",
      "LIST",
      "Arms, or rewards of the gate, by name, separated by commas; all by default"
    ),
    preset: Flag.optional(flags.presetName),
    set: flags.set,
    scale: flags.optionalChoice(
      "scale",
      ["smoke", "small", "full"],
      "smoke: a few steps, to check that every arm runs; small, the default: the embedded engine; full: the paper's " +
        "settings, for your own engine"
    ),
    testQuestions: flags.optionalInteger(
      "test-questions",
      "curves: after the runs, evaluate every kept checkpoint on the first N test questions, and draw their EM; needs " +
        "--set checkpoint.keep=null, and checkpoint.every sets the steps between checkpoints"
    ),
    simulations: flags.optionalInteger(
      "simulations",
      "compare-errors: simulations, 1000 by default; evolve, evolve-aims: searches per agent, 50 and 100 by default"
    ),
    seed: flags.seed.pipe(Flag.withDescription("the gate and simulations: the first seed; 1 by default")),
    out: flags.out.pipe(Flag.withDescription("Directory for everything that is written; studies may share one")),
    json: flags.json,
    quiet: flags.quiet
  },
  handler(async () => (await import("./Research.ts")).research)
).pipe(
  flags.help({
    short: "Compare methods, parts and rules over seeds",
    description: [
      "Controlled comparisons, by study:",
      "",
      ...catalogue.map(({ asks, name }) => `  ${name.padEnd(17)}  ${asks}`)
    ].join("\n"),
    examples: {
      "research static-vs-evolved --seeds 1-3": "All arms on three seeds",
      "research ablation --scale smoke --seeds 1": "Does every arm run?",
      "research compare-errors --json": "A simulation, as one JSON document"
    }
  })
)
