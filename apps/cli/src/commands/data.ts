import { defaultShares } from "@inspo/datasets/Shares"
import { Argument, Command, Flag } from "effect/cli"
import * as flags from "./flags.ts"
import { handler, readerHandler } from "./handler.ts"

const file = Argument.String("file").pipe(
  Argument.withDescription("Questions as Search-R1 rows: Parquet if the name ends in .parquet, else JSON lines")
)

const force = Flag.Boolean("force").pipe(Flag.withDescription("Write over files that exist"), Flag.withDefault(false))

const directory = Flag.String("out").pipe(Flag.withMetavar("DIR"), Flag.withDescription("Directory to write to"))

const inspect = Command.make("inspect", { file, json: flags.json }, (input) =>
  readerHandler(
    () => import("../data/Inspect.ts"),
    ({ inspect }) => inspect(input)
  )
).pipe(
  Command.withDescription("Tell what a question file holds: sources, columns, lengths, examples, problems"),
  Command.withExamples([{ command: "inspo data inspect train.parquet", description: "Before a run on it" }])
)

const convert = Command.make(
  "convert",
  {
    file,
    out: Argument.String("out").pipe(Argument.withDescription("File to write; its name says the format")),
    instruction: Flag.String("instruction").pipe(
      Flag.withMetavar("TEXT"),
      Flag.withDescription(
        "Instruction of the prompts that Parquet rows get where they bring none; the seed by default"
      ),
      Flag.optional
    ),
    force,
    json: flags.json
  },
  (input) =>
    handler(
      () => import("../data/Convert.ts"),
      ({ convert }) => convert(input)
    )
).pipe(
  Command.withDescription("Write questions in the other format, as rows that Search-R1 and verl can train on"),
  Command.withExamples([
    { command: "inspo data convert mine.jsonl mine.parquet", description: "For Search-R1" },
    { command: "inspo data convert test.parquet test.jsonl", description: "To read it" }
  ])
)

const share = (name: keyof typeof defaultShares) =>
  Flag.Finite(name).pipe(
    Flag.withMetavar("X"),
    Flag.withDescription(`Share of the part ${name}, relative to the sum of all`),
    Flag.withDefault(defaultShares[name])
  )

const split = Command.make(
  "split",
  {
    file,
    out: directory,
    train: share("train"),
    validation: share("validation"),
    test: share("test"),
    seed: Flag.Int("seed").pipe(Flag.withMetavar("N"), Flag.withDescription("Seed of the draw"), Flag.withDefault(1)),
    force,
    json: flags.json
  },
  (input) =>
    handler(
      () => import("../data/Split.ts"),
      ({ split }) => split(input)
    )
).pipe(
  Command.withDescription("Split questions at random, each source in the same shares, equal texts in the same part"),
  Command.withExamples([
    { command: "inspo data split all.jsonl --out parts --test 0.2", description: "train, validation and test" }
  ])
)

const world = Command.make(
  "world",
  { out: directory, preset: flags.preset, set: flags.set, seed: flags.seed, force, json: flags.json },
  (input) =>
    handler(
      () => import("../data/World.ts"),
      ({ world }) => world(input)
    )
).pipe(
  Command.withDescription("Write the questions and the corpus of a generated world"),
  Command.withExamples([
    { command: "inspo data world --seed 7 --out world7", description: "The world that a run of this seed trains in" },
    {
      command: "inspo data world --out large --set data.world.questions=5000",
      description: "More questions"
    }
  ])
)

export const data = Command.make("data").pipe(
  Command.withDescription("Look at question files, convert and split them, write a generated world"),
  Command.withShortDescription("Inspect, convert and split question files, write a world"),
  Command.withSubcommands([inspect, convert, split, world])
)
