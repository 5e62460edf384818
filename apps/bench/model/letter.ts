/**
 * The study of docs/real-model-study.md: every seed runs `inspo bench trained-letter` with a server of its own, which trains
 * SmolLM2 with PyTorch; `--servers` seeds run side by side. The same command continues it after a stop.
 *
 *     bash apps/bench/model/serve --fetch && bash test/compatibility/install
 *     npx pnpm@12 exec node apps/bench/model/letter.ts --seeds 1-10
 *
 * With `--device cuda --servers 10` it takes one GPU. Writes the runs of seed N in `OUT/seed-N`, its result in
 * `RESULTS/seed-N.json`, and that of all seeds in `OUT/trained-letter.md` and `OUT/reward.svg`. An arm that has a result is not
 * run again.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Array as Arr, Console, Effect, FileSystem, Path, Pool } from "effect"
import { Command, Flag } from "effect/cli"
import { ChildProcess } from "effect/process"
import { fileURLToPath } from "node:url"
import * as Torch from "../../../test/compatibility/support/Torch.ts"
import { markdown, rewardFigure, studyResult, type StudyResult } from "../src/Result.ts"
import { parseSeeds } from "../src/Seeds.ts"
import { trainedLetter } from "../src/studies/Letter.ts"
import { ended, writeWeights } from "./Programs.ts"

const inspo = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url))

/** The settings of the study that its arms do not set. */
const settings = [
  "engine.contextLength=512",
  "rollout.groupSize=4",
  "train.batchSize=4",
  "train.miniBatchSize=4",
  "train.kl=advantages",
  "train.klCoefficient=0",
  "schedule.steps=60",
  "evaluation.questions=100",
  "checkpoint.every=20"
]

interface Options {
  readonly out: string
  readonly results: string
  readonly device: string
  readonly dtype: string
  readonly arms: string
  readonly set: ReadonlyArray<string>
}

/** A server with one thread, since several run side by side. */
const serve = (server: number, weights: string, { device, dtype, out }: Options) => {
  const flags = { "--model": weights, "--out": `${out}/server-${server}`, "--device": device, "--dtype": dtype }
  return Torch.serving("engine.py", Object.entries(flags).flat())
}

/** The result of one seed so far; null without one. */
const resultOf = Effect.fn("Letter.resultOf")(function* (seed: number, { results }: Pick<Options, "results">) {
  const fs = yield* FileSystem.FileSystem
  const file = `${results}/seed-${seed}.json`
  if (!(yield* fs.exists(file))) return null
  const result: StudyResult = JSON.parse(yield* fs.readFileString(file))
  return result
})

/** The asked arms that a result lacks. */
const missingIn = (result: StudyResult | null, { arms }: Pick<Options, "arms">): ReadonlyArray<string> => {
  const known = new Set(result?.arms.map(({ arm }) => arm))
  return arms.split(",").filter((arm) => !known.has(arm))
}

/** Runs the arms of one seed that have no result. */
const runSeed = Effect.fn("Letter.runSeed")(function* (
  seed: number,
  { url, weights }: { readonly url: string; readonly weights: string },
  options: Options
) {
  const fs = yield* FileSystem.FileSystem
  const before = yield* resultOf(seed, options)
  const missing = missingIn(before, options)
  const sets = [...settings, `engine.url=${url}`, `engine.tokenizer=${weights}`, ...options.set]
  const flags = { "--arms": missing.join(","), "--seeds": `${seed}`, "--out": directoryOf(options.out, seed) }
  const bench = ["bench", "trained-letter", "--quiet", ...Object.entries(flags).flat()]
  yield* ended(
    ChildProcess.make(process.execPath, [inspo, ...bench, ...sets.flatMap((one) => ["--set", one])], {
      stdin: "inherit",
      stdout: "ignore",
      stderr: "inherit",
      detached: false
    })
  ).pipe(Effect.tapError(() => Console.error(`seed ${seed} failed`)))
  const result: StudyResult = JSON.parse(
    yield* fs.readFileString(`${directoryOf(options.out, seed)}/trained-letter.json`)
  )
  const arms = [...(before?.arms ?? []), ...result.arms]
  const command = `node apps/bench/model/letter.ts --seeds ${seed} --arms ${arms.map(({ arm }) => arm).join(",")}`
  const all: StudyResult = { ...result, command, arms }
  yield* fs.writeFileString(`${options.results}/seed-${seed}.json`, `${JSON.stringify(all)}\n`)
  yield* Console.log(`seed ${seed} is finished`)
})

const directoryOf = (out: string, seed: number) => `${out}/seed-${seed}`

/** Writes the result of all seeds from those of each. */
const collect = Effect.fn("Letter.collect")(function* (seeds: Arr.NonEmptyReadonlyArray<number>, options: Options) {
  const fs = yield* FileSystem.FileSystem
  const { out } = options
  const parts = (yield* Effect.forEach(seeds, (seed) => resultOf(seed, options))).filter((part) => part !== null)
  if (!Arr.isReadonlyArrayNonEmpty(parts)) return
  const [first] = parts
  const result = studyResult(
    trainedLetter,
    { ...first, seconds: parts.reduce((total, { seconds }) => total + seconds, 0) },
    trainedLetter.arms.map((arm) => ({
      arm,
      seeds: parts.flatMap(({ arms }) => arms.find((one) => one.arm === arm.name)?.seeds ?? [])
    }))
  )
  yield* fs.writeFileString(`${out}/trained-letter.json`, `${JSON.stringify(result, null, 2)}\n`)
  yield* fs.writeFileString(`${out}/trained-letter.md`, markdown(trainedLetter, result))
  yield* fs.writeFileString(`${out}/reward.svg`, rewardFigure(result))
  yield* Console.log(`Results: ${out}/trained-letter.md`)
})

Command.make(
  "letter",
  {
    seeds: Flag.String("seeds").pipe(Flag.withDefault("1-10")),
    arms: Flag.String("arms").pipe(Flag.withDefault(trainedLetter.main.join(","))),
    set: Flag.String("set").pipe(Flag.atLeast(0), Flag.withDescription("A setting, such as train.learningRate=1e-4")),
    servers: Flag.Int("servers").pipe(Flag.withDefault(1), Flag.withDescription("Seeds that run side by side")),
    device: Flag.String("device").pipe(Flag.withDefault("cpu")),
    dtype: Flag.Literals("dtype", ["bfloat16", "float32"]).pipe(Flag.withDefault("bfloat16")),
    model: Flag.String("model").pipe(Flag.withDefault(".cache/model/SmolLM2-135M-Instruct.Q4_1.gguf")),
    out: Flag.String("out").pipe(Flag.withDefault("runs/letter")),
    results: Flag.String("results").pipe(Flag.withDefault("apps/bench/model/letter"))
  },
  Effect.fnUntraced(function* ({ model, out: given, seeds: text, servers, ...flags }) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const seeds = yield* Effect.fromResult(parseSeeds("--seeds", text))
    if (!Arr.isReadonlyArrayNonEmpty(seeds)) return yield* Effect.fail("--seeds is empty, expected at least one seed.")
    const out = path.resolve(given)
    for (const directory of [out, flags.results]) yield* fs.makeDirectory(directory, { recursive: true })
    const options: Options = { ...flags, out }
    const unfinished = yield* Effect.filter(seeds, (seed) =>
      Effect.map(resultOf(seed, options), (result) => missingIn(result, options).length > 0)
    )
    if (unfinished.length > 0) {
      // A directory is served as it is; the weights of a file are written out once for all servers.
      const isDirectory = (yield* fs.stat(model)).type === "Directory"
      const weights = isDirectory ? path.resolve(model) : `${out}/weights`
      if (!isDirectory) yield* writeWeights(path.resolve(model), weights)
      let started = 0
      const pool = yield* Pool.make({
        acquire: Effect.suspend(() => serve(started++, weights, options)),
        size: servers
      })
      yield* Effect.forEach(
        unfinished,
        (seed) => Effect.scoped(Effect.flatMap(Pool.get(pool), (url) => runSeed(seed, { url, weights }, options))),
        { concurrency: servers, discard: true }
      )
    }
    yield* collect(seeds, options)
  }, Effect.scoped)
).pipe(
  Command.withDescription("Run the study of docs/real-model-study.md"),
  Command.run({ version: "0.0.0" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
