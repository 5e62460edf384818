import { cpus, totalmem } from "node:os"
import type { RunConfig } from "@inspo/coevolution"
import type { RunState } from "@inspo/coevolution/RunState"
import { Array as Arr, Clock, Console, Effect, FileSystem, Option } from "effect"
import { codeHash } from "../config/CodeHash.ts"
import { loadData } from "../config/Data.ts"
import { fromInput } from "../config/Input.ts"
import { nearest } from "../config/Suggestion.ts"
import { CommandFailure, UsageError } from "../Failure.ts"
import { ensureRun } from "../run/Ensure.ts"
import { programName } from "../run/ProgramName.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { duration } from "../terminal/Text.ts"
import type { Arm } from "./Arm.ts"
import * as Curves from "./Curves.ts"
import { markdown, type Scale, seedResult, type SeedResult, studyResult } from "./Result.ts"
import { parseSeeds } from "./Seeds.ts"
import { type Study, studies } from "./Study.ts"

export interface StudyInput {
  readonly study: string
  readonly seeds: string
  readonly furtherSeeds: string
  readonly arms: Option.Option<string>
  readonly out: Option.Option<string>
  readonly preset: Option.Option<string>
  readonly set: ReadonlyArray<string>
  readonly scale: Scale
  readonly json: boolean
  readonly quiet: boolean
}

/**
 * Runs the main arms of a study on every seed and the others on `furtherSeeds` of them, each in `OUT/ARM/seed-N`, and
 * compares them. Stopping is safe: runs that are finished are read again, those of other studies included, and one that was
 * stopped is continued.
 */
export const runStudy = Effect.fn("RunStudy.runStudy")(function* (input: StudyInput) {
  const study = yield* Effect.fromOption(Arr.findFirst(studies, ({ name }) => name === input.study)).pipe(Effect.orDie)
  const fs = yield* FileSystem.FileSystem
  const launchedAt = yield* Clock.currentTimeMillis
  const seedsOf = (flag: string, text: string) =>
    Effect.mapError(Effect.fromResult(parseSeeds(flag, text)), (problem) => new UsageError({ problem }))
  const seeds = yield* seedsOf("--seeds", input.seeds)
  const furtherSeeds = new Set(yield* seedsOf("--further-seeds", input.furtherSeeds))
  const chosen = yield* chooseArms(study, input.arms)
  const preset = Option.getOrElse(input.preset, () => (input.scale === "full" ? "paper" : "quick"))
  const base = yield* fromInput({
    preset,
    file: Option.none(),
    set: [...(input.scale === "smoke" ? smoke : []), ...input.set],
    seed: Option.none()
  })
  if (base.evaluation.questions === 0)
    return yield* new UsageError({
      problem: "evaluation.questions is 0, expected test questions to compare the arms on."
    })
  const code = yield* codeHash()
  const reporter = yield* Reporter.make(input.quiet ? "quiet" : input.json ? "json" : "normal")
  const out = Option.getOrElse(input.out, () => `runs/bench-${preset}${input.scale === "smoke" ? "-smoke" : ""}`)
  const name = yield* programName
  const command = [
    `${name} bench ${study.name}`,
    ...(input.scale === "small" ? [] : [`--scale ${input.scale}`]),
    `--seeds ${input.seeds} --further-seeds ${input.furtherSeeds}`,
    ...Option.match(input.arms, { onNone: () => [], onSome: (arms) => [`--arms ${arms}`] }),
    ...Option.match(input.preset, { onNone: () => [], onSome: (preset) => [`--preset ${preset}`] }),
    ...input.set.map((setting) => `--set '${setting}'`)
  ].join(" ")

  const found = new Map<string, Array<SeedResult>>(chosen.map(({ name }) => [name, []]))
  const resultSoFar = Effect.map(Clock.currentTimeMillis, (now) =>
    studyResult(
      study,
      { scale: input.scale, code, command, hardware: hardware(), seconds: (now - launchedAt) / 1000 },
      chosen.map((arm) => ({ arm, seeds: found.get(arm.name) ?? [] }))
    )
  )
  for (const [index, seed] of seeds.entries()) {
    const config: RunConfig = { ...base, seed }
    const loaded = yield* loadData(config)
    const finished = new Map<string, RunState>()
    for (const arm of chosen.filter((arm) => study.main.includes(arm.name) || furtherSeeds.has(seed))) {
      yield* reporter.lines([`${arm.name}, seed ${seed} (${index + 1} of ${seeds.length}): ${arm.description}`])
      const stages: Array<RunState> = []
      for (const [stage, configure] of arm.stages.entries()) {
        const last = stage === arm.stages.length - 1
        const stageConfig = configure({
          config,
          earlier: stages,
          results: (name) => {
            const state = finished.get(name)
            if (state === undefined)
              throw new RangeError(`arm ${arm.name} reads ${name}, which it does not name in needs`)
            return state
          }
        })
        stages.push(
          yield* ensureRun({
            directory: `${out}/${arm.name}/seed-${seed}${last ? "" : `-stage-${stage + 1}`}`,
            config: stageConfig,
            loaded,
            code,
            launchedAt,
            reporter: { ...reporter, lines: () => Effect.void }
          })
        )
      }
      const result = seedResult(seed, stages)
      const state = stages.at(-1)
      if (result === null || state === undefined)
        return yield* new CommandFailure({
          problem: `The run of ${arm.name} with seed ${seed} ended without a result.`
        })
      finished.set(arm.name, state)
      found.get(arm.name)?.push(result)
      const elapsed = ((yield* Clock.currentTimeMillis) - launchedAt) / 1000
      yield* reporter.lines([
        `  EM ${result.em.toFixed(3)} after ${result.rollouts} rollouts; ${duration(elapsed)} so far`
      ])
      // Written after every run, so that a long bench can be looked at while it goes on.
      yield* fs.makeDirectory(out, { recursive: true })
      const partial = yield* resultSoFar
      yield* replaceFile(`${out}/${study.name}.json`, `${JSON.stringify(partial, null, 2)}\n`)
      yield* replaceFile(`${out}/${study.name}.md`, markdown(study, partial))
    }
  }
  if (study.draws)
    for (const { file, svg } of yield* Curves.figures(
      chosen.map(({ name }) => ({
        arm: name,
        directories: (found.get(name) ?? []).map(({ seed }) => `${out}/${name}/seed-${seed}`)
      }))
    ))
      yield* replaceFile(`${out}/${file}`, svg)
  const result = yield* resultSoFar
  yield* reporter.lines(["", markdown(study, result), `Everything lies in ${out}`])
  return yield* input.json ? Console.log(JSON.stringify(result)) : Effect.void
})

/** The named arms and those they need, in the order of the bench. */
const chooseArms = Effect.fnUntraced(function* ({ arms }: Study, list: Option.Option<string>) {
  if (Option.isNone(list)) return arms
  const wanted = new Set<string>()
  const add = (arm: Arm): void => {
    wanted.add(arm.name)
    for (const need of arms.filter(({ name }) => arm.needs.includes(name))) add(need)
  }
  const names = arms.map(({ name }) => name)
  for (const name of list.value.split(",").map((part) => part.trim())) {
    const arm = arms.find((known) => known.name === name)
    if (arm === undefined)
      return yield* new UsageError({
        problem:
          `--arms names ${JSON.stringify(name)}, expected some of ${names.join(", ")}.` +
          Option.match(nearest(name, names), { onNone: () => "", onSome: (meant) => ` Did you mean ${meant}?` })
      })
    add(arm)
  }
  return arms.filter(({ name }) => wanted.has(name))
})

/** What the runs are made on. */
const hardware = (): string => {
  const cores = cpus()
  return `${cores.length} cores (${cores[0]?.model ?? "unknown"}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.versions.node}`
}

/** Settings under which every arm runs through in seconds. */
const smoke: ReadonlyArray<string> = [
  "schedule.steps=4",
  "schedule.pruneEvery=2",
  "schedule.evolveEvery=2",
  "schedule.evolveUntil=2",
  "halving.minimumGroups=0",
  "verification.samples=4",
  "verification.rounds=1",
  "rollout.groupSize=2",
  "train.batchSize=8",
  "train.miniBatchSize=8",
  "data.world.counts={train: 80, validation: 10, test: 16}",
  "evaluation.questions=16"
]
