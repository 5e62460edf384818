import * as Shares from "@inspo/datasets/Shares"
import { Rewards, Scope, defaultOptions } from "@inspo/reward"
import { Argument, Command, Flag } from "effect/cli"
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

const part = (name: keyof typeof defaultOptions.format, description: string) =>
  flags.number(`${name}-score`, `em-format: ${description}`).pipe(Flag.withDefault(defaultOptions.format[name]))

const score = Command.make(
  "score",
  {
    file: flags.argument("file", "JSON lines, or - for standard input: see the forms of a row below"),
    reward: flags
      .choice(
        "reward",
        Object.values(Rewards.builtIn).map(({ name }) => name),
        `The reward, in [0, 1]: ${Object.values(Rewards.builtIn)
          .map(({ description, name }) => `${description} (${name})`)
          .join(", ")}`
      )
      .pipe(Flag.withDefault("em")),
    scope: flags
      .choice(
        "scope",
        Scope.literals,
        "Where to look for the answer in a solution_str: in the policy's own words after the last assistant marker " +
          "(response), in prompt and response as Search-R1 does (searchr1), or in all of it as verl's port does (verl)"
      )
      .pipe(Flag.withDefault("response")),
    structure: part("structure", "what well-formed turns are worth"),
    retrieval: part("retrieval", "added when well-formed turns retrieved a golden answer"),
    final: part("final", "what a wrong answer in malformed turns is worth")
  },
  reader(async () => (await import("../score/Score.ts")).score)
).pipe(
  flags.help({
    short: "Score answers again, without a model",
    description: [
      "Score answers again, without a model",
      "",
      "Each line of the file is one of",
      '  {"id", "prediction", "golden_answers"}   an answer',
      '  {"id", "solution_str", "ground_truth"}   prompt and response in one text,',
      "                                           as Search-R1 and verl log them",
      "  a line of a run's traces.jsonl",
      'golden_answers or ground_truth is a text, a list of texts, or {"target": either}; other fields are ignored. Each',
      'line of the output is {"id", "score", "extracted"}: extracted is the answer that was scored, null if there is',
      "none; score is null for a trace that failed. A row of another form ends the command with exit code 2."
    ].join("\n"),
    examples: {
      "inspo data score answers.jsonl --reward f1": "Word F1 of predictions",
      "inspo data score verl.jsonl --reward em --scope searchr1": "The numbers that Search-R1 itself would report",
      "inspo data score - --reward em-format < rows.jsonl": "Rows from a pipe",
      "inspo data score runs/quick-seed1/traces.jsonl --reward f1": "What a run answered"
    }
  })
)

const cases = Command.make(
  "cases",
  {
    files: Argument.atLeast(
      flags.argument("export", "JSON or JSON lines: OTLP, or observations, scores or traces of Langfuse"),
      1
    ),
    out: flags.text("out", "FILE", "File of cases to write, .jsonl"),
    redact: Flag.atLeast(
      flags.text("redact", "PATTERN", "Replace what a regular expression of RE2 matches by █; may be repeated"),
      0
    ),
    atLeast: Flag.atLeast(
      flags.text("at-least", "NAME=NUMBER", "Only calls with such a score, such as relevance=0.8; may be repeated"),
      0
    ),
    force: flags.force,
    json: flags.json
  },
  handler(async () => (await import("../data/Cases.ts")).cases)
).pipe(
  flags.help({
    description: "Write the cases that exports of traces hold, for evolve and compare",
    examples: {
      "inspo data cases traces.jsonl --out cases.jsonl": "From what a collector of OpenTelemetry wrote",
      "inspo data cases observations.jsonl scores.jsonl --out cases.jsonl --at-least correct=1": "From Langfuse",
      'inspo data cases traces.jsonl --out cases.jsonl --redact "[\\w.]+@[\\w.]+"': "Without addresses"
    }
  })
)

export const data = Command.make("data").pipe(
  Command.withDescription(
    "Inspect, convert and split question files, write cases of traces or a generated world, or score answers again"
  ),
  Command.withShortDescription("Work with data: inspect, convert, split, cases, score"),
  Command.withSubcommands([inspect, convert, split, cases, world, score])
)
