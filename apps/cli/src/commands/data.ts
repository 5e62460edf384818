import * as Shares from "@inspo/datasets/Shares"
import { Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler, reader } from "./handler.ts"

const file = flags.argument(
  "file",
  "Questions as Search-R1 rows: Parquet if the name ends in .parquet, else JSON lines"
)

const out = flags.text("out", "DIR", "Directory to write to")

const inspect = Command.make(
  "inspect",
  { file, json: flags.json },
  reader(async () => (await import("../data/Inspect.ts")).inspect)
).pipe(
  flags.help({
    description: "Show what a question file holds: sources, columns, lengths, examples, problems",
    examples: { "inspo data inspect train.parquet": "Before a run on it" }
  })
)

const convert = Command.make(
  "convert",
  {
    file,
    out: flags.argument("out", "File to write; its extension selects the format"),
    instruction: flags.optionalText(
      "instruction",
      "TEXT",
      "Instruction in the prompts of Parquet rows that have no prompt; the seed by default"
    ),
    force: flags.force,
    json: flags.json
  },
  handler(async () => (await import("../data/Convert.ts")).convert)
).pipe(
  flags.help({
    description: "Write questions in the other format, as rows that Search-R1 and verl can train on",
    examples: {
      "inspo data convert mine.jsonl mine.parquet": "For Search-R1",
      "inspo data convert test.parquet test.jsonl": "To read it"
    }
  })
)

const share = (name: keyof typeof Shares.defaultShares) =>
  flags
    .number(name, `Share of the part ${name}, relative to the sum of all`)
    .pipe(Flag.withDefault(Shares.defaultShares[name]))

const split = Command.make(
  "split",
  {
    file,
    out,
    train: share("train"),
    validation: share("validation"),
    test: share("test"),
    seed: flags.integer("seed", "Seed of the draw").pipe(Flag.withDefault(1)),
    force: flags.force,
    json: flags.json
  },
  handler(async () => (await import("../data/Split.ts")).split)
).pipe(
  flags.help({
    description: "Split questions at random, each source in the same shares, equal texts in the same part",
    examples: { "inspo data split all.jsonl --out parts --test 0.2": "train, validation and test" }
  })
)

const world = Command.make(
  "world",
  { out, preset: flags.preset, set: flags.set, seed: flags.seed, force: flags.force, json: flags.json },
  handler(async () => (await import("../data/World.ts")).world)
).pipe(
  flags.help({
    description: "Write the questions and the corpus of a generated world",
    examples: {
      "inspo data world --seed 7 --out world7": "The world that a run of this seed trains in",
      "inspo data world --out large --set data.world.questions=5000": "More questions"
    }
  })
)

export const data = Command.make("data").pipe(
  Command.withDescription("Inspect, convert and split question files, or write a generated world"),
  Command.withShortDescription("Inspect, convert and split question files, write a world"),
  Command.withSubcommands([inspect, convert, split, world])
)
