/**
 * The studies of a real model: every arm of a seed is a run of `research STUDY` with a server that trains
 * SmolLM2 with PyTorch. `--servers` servers have `--runs` runs each at a time. The same command continues it after a stop.
 *
 *     bash research/studies/model/serve --fetch && bash test/compatibility/install
 *     npx pnpm@12 exec node research/studies/model/letter.ts --seeds 1-10
 *     npx pnpm@12 exec node research/studies/model/letter.ts --study blind-r2 --seeds 21-30
 *
 * With `--device cuda --servers 5 --runs 12` one GPU has all arms of ten seeds at once. Writes the runs of seed N in `OUT/seed-N`,
 * its results in `RESULTS/seed-N.json`, and those of all seeds in `OUT/trained-letter.md` and `OUT/reward.svg`. An arm that has a
 * result is not run again.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { Study } from "../src/Study.ts"
import { Array as Arr, Console, Effect, FileSystem, Option, Path, Pool, Semaphore } from "effect"
import { Command, Flag } from "effect/cli"
import * as Torch from "../../../test/compatibility/support/Torch.ts"
import { letter } from "../src/gate/Tasks.ts"
import { markdown, rewardFigure, type SeedResult, studyResult, type StudyResult } from "../src/Result.ts"
import { parseSeeds } from "../src/Seeds.ts"
import { studies } from "../src/Studies.ts"
import { ended, inspo, outputOf, research, setFlags, writeWeights } from "./Programs.ts"

const [plain] = letter.instructions

/** The studies that train a real model. */
const trained = studies.filter(({ takesOff }) => takesOff === true)

/** The settings of the study that its arms do not set. */
const settings = [
  "engine.contextLength=512",
  "rollout.groupSize=4",
  "train.batchSize=4",
  "train.miniBatch.size=4",
  "train.kl=none",
  "schedule.steps=60",
  "schedule.searchEvery=0",
  "evaluation.questions=100",
  "checkpoint.every=20"
]

interface Options {
  readonly study: Study
  readonly out: string
  readonly results: string
  readonly device: string
  readonly dtype: string
  readonly arms: string
  readonly runs: number
  readonly set: ReadonlyArray<string>
}

/**
 * A server with one thread, since several run side by side. A run may begin a second model; all servers have the same checkpoints,
 * so that each can continue any run.
 */
const serve = (weights: string, { device, dtype, out, runs }: Options) => {
  const flags = {
    "--model": weights,
    "--out": `${out}/servers`,
    "--device": device,
    "--dtype": dtype,
    "--models": `${2 * runs}`
  }
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

/** Runs one arm of one seed, and adds its result to that of the seed. */
const run = Effect.fn("Letter.run")(function* (
  { arm, seed }: { readonly arm: string; readonly seed: number },
  { url, weights }: { readonly url: string; readonly weights: string },
  options: Options
) {
  const fs = yield* FileSystem.FileSystem
  const out = `${options.out}/seed-${seed}/${arm}`
  const engine = setFlags([`engine.url=${url}`, `engine.tokenizer=${weights}`])
  const flags = { "--arms": arm, "--seeds": `${seed}`, "--out": out }
  const { study } = options
  const asking = [study.name, "--quiet", ...Object.entries(flags).flat()]
  yield* ended(research([...asking, ...engine, ...setFlags([...settings, ...options.set])], "ignore")).pipe(
    Effect.tapError(() => Console.error(`${arm} of seed ${seed} failed`))
  )
  const result: StudyResult = JSON.parse(yield* fs.readFileString(`${out}/${study.name}.json`))
  const stages = study.arms.find(({ name }) => name === arm)?.stages.length ?? 1
  const last = `${out}/${arm}/seed-${seed}${stages === 1 ? "" : `-stage-${stages - 1}`}`
  const asked = ["eval", last, "--split", "test", "--instruction", plain, "--json", ...engine]
  const measured = withoutPlain.some((end) => arm.endsWith(end)) ? yield* outputOf(inspo(asked, "pipe")) : null
  yield* writing.withPermit(addResult(seed, measured === null ? result : underPlain(result, measured), options))
  yield* Console.log(`${arm} of seed ${seed} is finished`)
})

/** The arms that do not evaluate the plain instruction, since they begin with another one. */
const withoutPlain = ["-hand-written", "-instruction-first"]

/** A result whose score under the first instruction is that under the plain one, as `inspo eval` measured it. */
const underPlain = (result: StudyResult, measured: string): StudyResult => {
  const { em }: { readonly em: number } = JSON.parse(measured)
  const ofPlain = (one: SeedResult): SeedResult =>
    one.takeOff === undefined ? one : { ...one, takeOff: { ...one.takeOff, underFirst: em } }
  return { ...result, arms: result.arms.map((arm) => ({ ...arm, seeds: arm.seeds.map(ofPlain) })) }
}

const writing = Semaphore.makeUnsafe(1)

const addResult = Effect.fnUntraced(function* (seed: number, result: StudyResult, options: Options) {
  const fs = yield* FileSystem.FileSystem
  const before = yield* resultOf(seed, options)
  const known = [...(before?.arms ?? []), ...result.arms]
  const arms = options.study.arms.flatMap(({ name }) => known.filter(({ arm }) => arm === name))
  const command = `node research/studies/model/letter.ts --study ${options.study.name} --seeds ${seed} --arms ${arms.map(({ arm }) => arm).join(",")}`
  const seconds = (before?.seconds ?? 0) + result.seconds
  const all: StudyResult = { ...result, command, arms, seconds }
  yield* fs.writeFileString(`${options.results}/seed-${seed}.json`, `${JSON.stringify(all)}\n`)
})
/** Writes the result of all seeds from those of each. */
const collect = Effect.fn("Letter.collect")(function* (seeds: Arr.NonEmptyReadonlyArray<number>, options: Options) {
  const fs = yield* FileSystem.FileSystem
  const { out, study } = options
  const parts = (yield* Effect.forEach(seeds, (seed) => resultOf(seed, options))).filter((part) => part !== null)
  if (!Arr.isReadonlyArrayNonEmpty(parts)) return
  const [first] = parts
  const result = studyResult(
    study,
    { ...first, seconds: parts.reduce((total, { seconds }) => total + seconds, 0) },
    study.arms.map((arm) => ({
      arm,
      seeds: parts.flatMap(({ arms }) => arms.find((one) => one.arm === arm.name)?.seeds ?? [])
    }))
  )
  yield* fs.writeFileString(`${out}/${study.name}.json`, `${JSON.stringify(result, null, 2)}\n`)
  yield* fs.writeFileString(`${out}/${study.name}.md`, markdown(study, result))
  yield* fs.writeFileString(`${out}/reward.svg`, rewardFigure(result))
  yield* Console.log(`Results: ${out}/${study.name}.md`)
})

Command.make(
  "letter",
  {
    seeds: Flag.String("seeds").pipe(Flag.withDefault("1-10")),
    study: Flag.Literals(
      "study",
      trained.map(({ name }) => name)
    ).pipe(Flag.withDefault("trained-letter")),
    arms: Flag.optional(Flag.String("arms")),
    set: Flag.String("set").pipe(Flag.atLeast(0), Flag.withDescription("A setting, such as train.learningRate=1e-4")),
    servers: Flag.Int("servers").pipe(Flag.withDefault(1)),
    runs: Flag.Int("runs").pipe(Flag.withDefault(1), Flag.withDescription("Runs of a server at a time")),
    device: Flag.String("device").pipe(Flag.withDefault("cpu")),
    dtype: Flag.Literals("dtype", ["bfloat16", "float32"]).pipe(Flag.withDefault("bfloat16")),
    model: Flag.String("model").pipe(Flag.withDefault(".cache/model/SmolLM2-135M-Instruct.Q4_1.gguf")),
    out: Flag.optional(Flag.String("out")),
    results: Flag.optional(Flag.String("results"))
  },
  Effect.fnUntraced(function* ({ arms, model, out: given, results, seeds: text, servers, study: name, ...flags }) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const seeds = yield* Effect.fromResult(parseSeeds("--seeds", text))
    if (!Arr.isReadonlyArrayNonEmpty(seeds)) return yield* Effect.fail("--seeds is empty, expected at least one seed.")
    const study = yield* Effect.fromNullishOr(trained.find((one) => one.name === name))
    const short = name.replace("trained-", "")
    const options: Options = {
      ...flags,
      study,
      arms: Option.getOrElse(arms, () => (study.main ?? study.arms.map(({ name }) => name)).join(",")),
      out: path.resolve(Option.getOrElse(given, () => `runs/${short}`)),
      results: Option.getOrElse(results, () => `research/studies/model/${short}`)
    }
    const { out } = options
    for (const directory of [out, options.results]) yield* fs.makeDirectory(directory, { recursive: true })
    const unfinished = (yield* Effect.forEach(seeds, (seed) =>
      Effect.map(resultOf(seed, options), (result) => missingIn(result, options).map((arm) => ({ arm, seed })))
    )).flat()
    if (unfinished.length > 0) {
      // A directory is served as it is; the weights of a file are written out once for all servers.
      const isDirectory = (yield* fs.stat(model)).type === "Directory"
      const weights = isDirectory ? path.resolve(model) : `${out}/weights`
      if (!isDirectory) yield* writeWeights(path.resolve(model), weights)
      const pool = yield* Pool.make({ acquire: serve(weights, options), size: servers, concurrency: options.runs })
      yield* Effect.forEach(
        unfinished,
        (one) => Effect.scoped(Effect.flatMap(Pool.get(pool), (url) => run(one, { url, weights }, options))),
        { concurrency: servers * options.runs, discard: true }
      )
    }
    yield* collect(seeds, options)
  }, Effect.scoped)
).pipe(
  Command.withDescription("Run the study of research/docs/real-model.md"),
  Command.run({ version: "0.0.0" }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
