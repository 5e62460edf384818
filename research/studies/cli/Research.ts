import { blindGate } from "../src/blind/BlindGate.ts"
import { catalogue } from "../src/Catalogue.ts"
import * as CompareErrors from "../src/CompareErrors.ts"
import * as EvolveAims from "../src/EvolveAims.ts"
import * as EvolveBench from "../src/Evolve.ts"
import type { Asked, Host, Kept } from "../src/Host.ts"
import type { Scale } from "../src/Result.ts"
import { runStudy } from "../src/RunStudy.ts"
import type { RunConfig } from "@inspo/config"
import { RandomStream, Trajectory } from "@inspo/domain"
import { Rollout } from "@inspo/rollout"
import { Clock, Console, Effect, FileSystem, Option, Path, String } from "effect"
import { codeHash } from "../../../apps/cli/src/config/CodeHash.ts"
import { loadData } from "../../../apps/cli/src/config/Data.ts"
import { fromInput } from "../../../apps/cli/src/config/Input.ts"
import * as Along from "./Along.ts"
import * as Services from "./Services.ts"
import { given } from "../../../apps/cli/src/eval/EvalArm.ts"
import { UsageError } from "../../../apps/cli/src/Failure.ts"
import { layerRollout } from "../../../apps/cli/src/layers.ts"
import { findOrExecute } from "../../../apps/cli/src/run/Baseline.ts"
import { wallSeconds } from "../../../apps/cli/src/runDirectory/Timings.ts"
import { replaceFile } from "../../../apps/cli/src/runDirectory/Write.ts"
import * as Reporter from "../../../apps/cli/src/terminal/Reporter.ts"
import { JsonFlag } from "../../../apps/cli/src/commands/handler.ts"

export interface ResearchInput {
  readonly study: Option.Option<string>
  readonly seeds: Option.Option<string>
  readonly furtherSeeds: Option.Option<string>
  readonly arms: Option.Option<string>
  readonly preset: Option.Option<string>
  readonly set: ReadonlyArray<string>
  readonly scale: Option.Option<Scale>
  readonly testQuestions: Option.Option<number>
  readonly simulations: Option.Option<number>
  readonly seed: Option.Option<number>
  readonly out: Option.Option<string>
  readonly json: boolean
  readonly quiet: boolean
}

/** Runs a study with the runs of this program; without a name, lists the studies. */
export const research = Effect.fn("Research.research")(
  function* (input: ResearchInput) {
    const study = catalogue.find(({ name }) => Option.contains(input.study, name))
    if (study === undefined) return yield* list
    const { flags, what } = takes[study.by]
    const flag = givenFlags(input).find((name) => !flags.includes(name))
    if (flag !== undefined)
      return yield* new UsageError({
        problem: `--${flag} is not for ${study.name}, which ${what}: it takes --${flags.join(", --")}.`
      })
    const host = yield* makeHost(input)
    const result = yield* made(host, study, input)
    return yield* input.json ? Console.log(JSON.stringify(result)) : Effect.void
  },
  (effect, input) => Effect.provideService(effect, JsonFlag, input.json)
)

/** The flags that a kind of study takes, besides those that all take. */
const takes: Readonly<Record<Entry["by"], { readonly what: string; readonly flags: ReadonlyArray<string> }>> = {
  runs: {
    what: "makes runs",
    flags: ["seeds", "further-seeds", "arms", "preset", "scale", "set", "test-questions"]
  },
  simulation: { what: "is a simulation", flags: ["simulations", "seed"] },
  answers: { what: "evaluates a policy without training", flags: ["arms", "preset", "set", "seed"] }
}

type Entry = (typeof catalogue)[number]

/** The flags that are given, but those that all studies take. */
const givenFlags = ({ json: _json, out: _out, quiet: _quiet, set, study: _study, ...options }: ResearchInput) => [
  ...(set.length > 0 ? ["set"] : []),
  ...Object.entries(options).flatMap(([name, value]) =>
    Option.isSome<unknown>(value) ? [String.snakeToKebab(String.camelToSnake(name))] : []
  )
]

const made = Effect.fnUntraced(function* <E, R>(host: Host<E, R>, study: Entry, input: ResearchInput) {
  const seed = Option.getOrElse(input.seed, () => 1)
  switch (study.by) {
    case "runs":
      return yield* runStudy(host, {
        ...input,
        study: study.name,
        seeds: Option.getOrElse(input.seeds, () => study.seeds),
        furtherSeeds: input.furtherSeeds.pipe(
          Option.orElse(() => input.seeds),
          Option.getOrElse(() => study.seeds)
        ),
        scale: Option.getOrElse(input.scale, (): Scale => "small"),
        testQuestions: Option.getOrElse(input.testQuestions, () => 0)
      })
    case "answers":
      return yield* blindGate(host, { ...input, seed })
    case "simulation":
      return yield* benches[study.name].bench(host, {
        simulations: Option.getOrElse(input.simulations, () => study.simulations),
        seed,
        out: Option.getOrElse(input.out, () => `runs/bench-${study.name}`)
      })
  }
})

const benches = {
  evolve: EvolveBench,
  "evolve-aims": EvolveAims,
  "compare-errors": CompareErrors
}

/** How studies make their runs in this program. */
const makeHost = Effect.fnUntraced(function* (input: ResearchInput) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const reporter = yield* Reporter.make(input)
  const code = yield* codeHash()
  const commit = yield* Services.commit
  return {
    code,
    commit,
    program: "npx pnpm@12 research",
    print: reporter.lines,
    config: (preset: string, set: ReadonlyArray<string>) =>
      fromInput({ preset, file: Option.none(), set, seed: Option.none() }),
    run: Effect.fnUntraced(function* (directory: string, config: RunConfig, strategies: Services.Replaced) {
      const launchedAt = yield* Clock.currentTimeMillis
      const loaded = yield* loadData(config)
      // Of a run within a study, only its progress is shown.
      const silent = { ...reporter, lines: () => Effect.void }
      const services = Services.layer(config, loaded.passages, { directory, strategies })
      return yield* findOrExecute({ directory, config, loaded, code, launchedAt, reporter: silent, services })
    }),
    exported: Services.exported,
    seconds: wallSeconds,
    test: (directory: string, questions: number) => Along.test(directory, questions, reporter),
    answer,
    read: Effect.fnUntraced(function* (file: string) {
      return (yield* fs.exists(file)) ? yield* fs.readFileString(file) : null
    }),
    write: Effect.fnUntraced(function* (file: string, text: string) {
      yield* fs.makeDirectory(path.dirname(file), { recursive: true })
      yield* replaceFile(file, text)
    })
  }
})

/** Lists the studies and what each asks. */
const list = Reporter.print({ studies: catalogue }, () => {
  const width = Math.max(...catalogue.map(({ name }) => name.length)) + 2
  return catalogue.map(({ asks, name }) => name.padEnd(width) + asks)
})

/** Collects answers of the policy of a config, untrained, under an instruction, see `Host.answer`. */
const answer = Effect.fn("Research.answer")(function* (config: RunConfig, asked: Asked, kept: Kept) {
  const fs = yield* FileSystem.FileSystem
  const checkpoints = yield* fs.makeTempDirectoryScoped()
  return yield* Effect.gen(function* () {
    const rollout = yield* Rollout
    return yield* rollout.collect(
      asked.questions.map(({ index, question }) => ({
        id: Trajectory.TrajectoryId.make([...asked.path, index].join("/")),
        instruction: given(asked.instruction),
        question,
        seed: RandomStream.streamSeed(config.randomSeed, [...asked.path, index])
      })),
      { onFinished: (finished) => fs.writeFileString(kept.file, kept.lines(finished), { flag: "a" }) }
    )
  }).pipe(Effect.provide(layerRollout(config, [], checkpoints)))
}, Effect.scoped)
