/**
 * The trained study: TRL's trainer trains a real language model on a task of the gate, with one instruction and with an evolving
 * population, both through `inspo serve` and with equal rollouts. The same command resumes it after a stop.
 *
 *     bash research/studies/model/serve --fetch && bash test/compatibility/install
 *     npx pnpm@12 exec node research/studies/model/trained.ts
 *
 * Writes a directory for each run, `trained.md` and `reward.svg`.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { RandomStream } from "@inspo/domain"
import { Markdown } from "@inspo/report"
import { Exact } from "@inspo/statistics"
import { Array as Arr, Console, Effect, FileSystem, Path, Schema, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { ChildProcess } from "effect/process"
import { fileURLToPath } from "node:url"
import { figure } from "../src/Curves.ts"
import { interval, points } from "../src/Format.ts"
import { arithmetic, format, scoring, type Task } from "../src/gate/Tasks.ts"
import { parseSeeds } from "../src/Seeds.ts"

const arms = ["static", "evolved"] as const
type Arm = (typeof arms)[number]

/** The tasks with generated questions. */
const tasks = { format, arithmetic }

/** Decisions are made after the same steps in every run; a static population makes none. */
const population = ({ instructions: [plain], sentences }: Task, arm: Arm, seed: number, steps: number) => {
  const variants = RandomStream.make(seed, ["variants"])
    .shuffle(sentences)
    .slice(0, 3)
    .map((sentence) => `${plain} ${sentence}`)
  return {
    profile: "trainer",
    seed: plain,
    ...(arm === "static"
      ? { settings: { schedule: { pruneEvery: 0, evolveEvery: 0 }, randomSeed: seed } }
      : {
          variants,
          settings: {
            population: { size: 4 },
            schedule: { pruneEvery: 5, evolveEvery: 10, evolveUntil: Math.ceil(steps / 2) },
            selection: { risk: 0.2 },
            randomSeed: seed
          }
        })
  }
}

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** Questions, of which the first hundred are held out for every seed. */
const rows = (task: Task, steps: number): string =>
  task
    .questions(100 + 4 * steps, 2)
    .map(({ goldenAnswers, id, question }, index) =>
      JSON.stringify({ id, prompt: question, golden_answers: goldenAnswers, split: index < 100 ? "held-out" : "train" })
    )
    .join("\n")

interface Options {
  readonly task: keyof typeof tasks
  readonly model: string
  readonly python: string
  readonly steps: number
}

/** Trains one arm on one seed, unless it is finished. */
const train = Effect.fn("Trained.train")(function* (
  directory: string,
  arm: Arm,
  seed: number,
  { model, python, steps, task: name }: Options
) {
  const task: Task = tasks[name]
  const fs = yield* FileSystem.FileSystem
  const questions = `${directory}/questions.jsonl`
  const asked = rows(task, steps)
  if ((yield* fs.exists(questions)) && (yield* fs.readFileString(questions)) !== asked)
    return yield* Effect.fail(`${directory} contains a run of another task or with other steps. Choose another --out.`)
  if (yield* fs.exists(`${directory}/result.json`)) return
  yield* fs.makeDirectory(directory, { recursive: true })
  const config = `${directory}/served.json`
  const served = {
    proposer: { model: "offline", clauses: task.sentences },
    populations: { policy: population(task, arm, seed, steps) }
  }
  yield* fs.writeFileString(config, JSON.stringify(served, null, 2))
  yield* fs.writeFileString(questions, asked)
  const server = yield* ChildProcess.make(
    process.execPath,
    [`${root}/apps/cli/src/main.ts`, "serve", config, "--port", "0", "--json", "--out", `${directory}/served`],
    // A signal to the process group ends the children too.
    { stderr: "inherit", detached: false }
  )
  const [ready] = yield* server.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.take(1), Stream.runCollect)
  if (ready === undefined) return yield* Effect.fail("The server ended before it was ready, see above.")
  const { url } = yield* decodeReady(ready)
  yield* Console.log(`${arm}, seed ${seed}: ${steps} steps; page: ${url}, log: ${directory}/train.log`)
  const [plain] = task.instructions
  const flags = {
    url,
    model,
    questions,
    plain,
    tokens: `${task.tokens}`,
    seed: `${seed}`,
    steps: `${steps}`,
    out: directory
  }
  const trainer = yield* ChildProcess.make(
    "sh",
    [
      "-c",
      'log=$1; shift; exec "$@" >>"$log" 2>&1',
      "sh",
      `${directory}/train.log`,
      python,
      `${root}/research/studies/model/train.py`,
      ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
      ...scoring(task.measure)
    ],
    { detached: false, env: { PYTHONPATH: `${root}/clients/python/src`, PYTHONUNBUFFERED: "1" }, extendEnv: true }
  )
  const code = yield* trainer.exitCode
  if (code !== 0)
    return yield* Effect.fail(
      `The trainer failed with exit code ${code}, see ${directory}/train.log. Repeat the command to continue from its checkpoint.`
    )
}, Effect.scoped)

const Answers = Schema.Array(Schema.Struct({ question: Schema.String, reward: Schema.Finite }))
const Result = Schema.Struct({
  seed: Schema.Int,
  rollouts: Schema.Int,
  steps: Schema.Array(Schema.Struct({ step: Schema.Int, reward: Schema.Finite })),
  leading: Schema.String,
  answers: Schema.Struct({ plain: Answers, leading: Answers })
})

/** Tables and the figure of the runs that are finished. */
const summarize = Effect.fn("Trained.summarize")(function* (out: string, task: string, seeds: ReadonlyArray<number>) {
  const fs = yield* FileSystem.FileSystem
  const read = Effect.fnUntraced(function* (arm: Arm, seed: number) {
    return yield* decodeResult(yield* fs.readFileString(`${out}/${arm}/seed-${seed}/result.json`))
  })
  const pairs = yield* Effect.forEach(seeds, (seed) =>
    Effect.all({ static: read("static", seed), evolved: read("evolved", seed) })
  )
  const cells = (rewards: ReadonlyArray<number>) => {
    const found = Exact.estimate(rewards)
    return found === null ? ["–", "–"] : [points(found.mean), interval(found)]
  }
  const rewards = (answers: typeof Answers.Type) => answers.map(({ reward }) => reward)
  const under = ["plain", "leading"] as const
  const differences = under.map((instruction) => ({
    instruction,
    bySeed: pairs.map(({ evolved, static: other }) =>
      Arr.zipWith(rewards(evolved.answers[instruction]), rewards(other.answers.plain), (one, two) => one - two)
    )
  }))
  const lines = [
    `# A real language model, trained: ${task}`,
    "",
    "Rewards in points on 100 held-out questions, answered without sampling; intervals are 95 % over questions. The leading instruction is the one with " +
      "the largest share in the end.",
    "",
    ...Markdown.table([
      [
        "arm",
        "under the plain instruction",
        "95 % interval",
        "under the leading one",
        "95 % interval",
        "rollouts",
        "the leading one"
      ],
      ...pairs.flatMap((pair) =>
        arms.map((arm) => {
          const { answers, leading, rollouts, seed } = pair[arm]
          const found = under.flatMap((instruction) => cells(rewards(answers[instruction])))
          return [`${arm}, seed ${seed}`, ...found, String(rollouts), leading]
        })
      )
    ]),
    "",
    ...Markdown.table([
      ["difference from static, paired by question", "seed", "points", "95 % interval"],
      ...differences.flatMap(({ bySeed, instruction }) => [
        ...bySeed.map((difference, index) => [
          `under the ${instruction} one`,
          String(seeds[index] ?? ""),
          ...cells(difference)
        ]),
        // The mean over seeds of each question, so that the interval is over questions.
        [`under the ${instruction} one`, "mean", ...cells(meanOf(bySeed))]
      ])
    ]),
    ""
  ]
  yield* fs.writeFileString(`${out}/trained.md`, lines.join("\n"))
  // A curve for each run, since there are too few seeds for an interval.
  const courses = pairs.flatMap((pair) =>
    arms.map((arm) => ({
      arm: `${arm} ${pair[arm].seed}`,
      courses: [pair[arm].steps.map(({ reward }) => reward)]
    }))
  )
  yield* fs.writeFileString(`${out}/reward.svg`, figure("Reward", courses))
  yield* Console.log(lines.join("\n"))
})

const meanOf = (rows: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<number> =>
  rows.reduce((sums, row) => Arr.zipWith(sums, row, (sum, one) => sum + one)).map((sum) => sum / rows.length)

const decodeReady = Schema.decodeEffect(Schema.fromJsonString(Schema.Struct({ url: Schema.String })))
const decodeResult = Schema.decodeEffect(Schema.fromJsonString(Result))

Command.make(
  "trained",
  {
    task: Flag.Literals("task", ["format", "arithmetic"]).pipe(Flag.withDefault("format" as const)),
    seeds: Flag.String("seeds").pipe(Flag.withDefault("1-2"), Flag.withDescription("Such as 1-3 or 1,4")),
    steps: Flag.Int("steps").pipe(Flag.withDefault(40)),
    model: Flag.String("model").pipe(
      Flag.withDefault(".cache/model/SmolLM2-135M-Instruct.Q4_1.gguf"),
      Flag.withDescription("A GGUF file, or a directory of transformers")
    ),
    python: Flag.String("python").pipe(Flag.withDefault(".cache/compatibility/bin/python")),
    out: Flag.String("out").pipe(Flag.withDefault("runs/trained"))
  },
  Effect.fnUntraced(function* ({ out, seeds, ...options }) {
    const path = yield* Path.Path
    const numbers = yield* Effect.fromResult(parseSeeds("--seeds", seeds))
    for (const seed of numbers)
      for (const arm of arms) yield* train(path.resolve(out, arm, `seed-${seed}`), arm, seed, options)
    yield* summarize(path.resolve(out), options.task, numbers)
  })
).pipe(
  Command.withDescription("Train a real language model under one instruction and under a population that evolves"),
  Command.run({ version: "0.0.0" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
