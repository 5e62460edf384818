import { cpus, totalmem } from "node:os"
import type { RunState } from "@inspo/coevolution"
import { duration, percent } from "@inspo/report"
import type { RunConfig } from "@inspo/config"
import { Invariant } from "@inspo/domain"
import { Clock, Effect, Number, Option } from "effect"
import type { Arm, StageContext } from "./Arm.ts"
import { commandLine, named, type SharedFlags } from "./CommandLine.ts"
import * as Curves from "./Curves.ts"
import { type Host, InvalidStudy, StudyFailure } from "./Host.ts"
import {
  markdown,
  measureOf,
  dialFigure,
  rewardFigure,
  type Scale,
  seedResult,
  type SeedResult,
  studyResult,
  type StudyResult
} from "./Result.ts"
import { parseSeeds } from "./Seeds.ts"
import { stepOf } from "./TakeOff.ts"
import { studies } from "./Studies.ts"
import type { Study } from "./Study.ts"

export interface StudyInput extends SharedFlags {
  readonly study: string
  readonly seeds: string
  readonly furtherSeeds: string
  readonly out: Option.Option<string>
  readonly scale: Scale
  /** For studies with figures: the number of test questions that every kept checkpoint answers; 0 for none. */
  readonly testQuestions: number
}

/**
 * Runs the main arms of a study on every seed and the others on `furtherSeeds`, each in `OUT/ARM/seed-N`, and compares them.
 * It can be stopped at any time: finished runs are read again, also those of other studies, and a stopped run is resumed.
 */
export const runStudy = Effect.fn("RunStudy.runStudy")(function* <E, R>(host: Host<E, R>, input: StudyInput) {
  const study = Invariant.present(
    studies.find(({ name }) => name === input.study),
    "study"
  )
  const launchedAt = yield* Clock.currentTimeMillis
  const preset = Option.getOrElse(input.preset, () => (input.scale === "full" ? "paper" : "quick"))
  const chosen = yield* chooseArms(study, preset, input.arms)
  const { furtherSeeds, seeds } = yield* seedsOf(input, study, chosen)
  const configured = yield* host.config(preset, [
    ...(input.scale === "smoke" ? smoke : []),
    ...(study.frozen === true ? ["train.fromStep=null"] : []),
    ...input.set
  ])
  if (configured.evaluation.questions === 0)
    return yield* new InvalidStudy({
      problem: "evaluation.questions is 0, expected test questions to compare the arms on."
    })
  yield* assertTests(study, configured, input.testQuestions)
  const out = Option.getOrElse(input.out, () => `runs/bench-${preset}${input.scale === "smoke" ? "-smoke" : ""}`)
  const base = yield* withQuestions(host, study, configured, out)
  const command = commandOf(host.program, study, input)

  const found = new Map<string, Array<SeedResult>>(chosen.map(({ name }) => [name, []]))
  const resultSoFar = Effect.map(Clock.currentTimeMillis, (now) =>
    studyResult(
      study,
      {
        scale: input.scale,
        commit: host.commit,
        code: host.code,
        command,
        hardware: hardware(),
        seconds: (now - launchedAt) / 1000
      },
      chosen.map((arm) => ({ arm, seeds: found.get(arm.name) ?? [] }))
    )
  )
  for (const [index, seed] of seeds.entries()) {
    const config = { ...base, randomSeed: seed }
    const finished = new Map<string, ReadonlyArray<RunState.RunState>>()
    for (const arm of chosen.filter((one) => isMain(study, one) || furtherSeeds.has(seed))) {
      yield* host.print([`${arm.name}, seed ${seed} (${index + 1} of ${seeds.length}): ${arm.description}`])
      const directories = arm.stages.map((_, stage) => directoryOf(out, arm, seed, stage))
      const stages = yield* runArm(host, arm, directories, {
        config,
        results: (name) => Invariant.get(finished, name, `what ${arm.name} needs, the result`)
      })
      const result = yield* resultOf(host, study, seed, stages, directories)
      if (result === null)
        return yield* new StudyFailure({
          problem: `The run of ${arm.name} with seed ${seed} ended without a result.`
        })
      finished.set(arm.name, stages)
      found.get(arm.name)?.push(result)
      const elapsed = ((yield* Clock.currentTimeMillis) - launchedAt) / 1000
      yield* host.print([line(study, result, elapsed)])
      // Written after every run, so that results of a long study are available early.
      yield* save(host, out, study, yield* resultSoFar)
    }
  }
  if (study.draws !== undefined) {
    const runs = chosen.map(({ name }) => ({
      arm: name,
      directories: (found.get(name) ?? []).map(({ seed }) => `${out}/${name}/seed-${seed}`)
    }))
    const tests = input.testQuestions === 0 ? [] : yield* Curves.tests(host, runs, input.testQuestions)
    for (const { file, text } of [...(yield* Curves.figures(study.draws, runs)), ...tests])
      yield* host.write(`${out}/${file}`, text)
  }
  const result = yield* resultSoFar
  yield* host.print(["", markdown(study, result), `Results: ${out}`])
  return result
})

/** Writes a result, its page and its figures. */
const save = Effect.fnUntraced(function* <E, R>(host: Host<E, R>, out: string, study: Study, result: StudyResult) {
  yield* host.write(`${out}/${study.name}.json`, `${JSON.stringify(result, null, 2)}\n`)
  yield* host.write(`${out}/${study.name}.md`, markdown(study, result))
  if (study.dial !== undefined) yield* host.write(`${out}/${study.name}.svg`, dialFigure(study.dial, result))
  if (study.takesOff === true) yield* host.write(`${out}/reward.svg`, rewardFigure(result))
})

/** Runs the stages of an arm, one after the other. */
const runArm = Effect.fnUntraced(function* <E, R>(
  host: Host<E, R>,
  arm: Arm,
  directories: ReadonlyArray<string>,
  context: Pick<StageContext, "config" | "results">
) {
  const stages: Array<RunState.RunState> = []
  let policy: string | null = null
  for (const [stage, configure] of arm.stages.entries()) {
    const config = configure({ ...context, earlier: stages, policy })
    const directory = Invariant.at(directories, stage, "directory")
    stages.push(yield* host.run(directory, config, arm.strategies?.(config) ?? {}))
    if (arm.carriesPolicy === true && stage + 1 < arm.stages.length) policy = yield* host.exported(directory, config)
  }
  return stages
})

/** The directory of a stage; the last one has the plain name. */
const directoryOf = (out: string, { name, stages }: Arm, seed: number, stage: number): string =>
  `${out}/${name}/seed-${seed}${stage === stages.length - 1 ? "" : `-stage-${stage + 1}`}`

/** The result of the stages of an arm, with its training and its take-off where the study reports them. */
const resultOf = Effect.fnUntraced(function* <E, R>(
  host: Host<E, R>,
  { measures, source, takesOff }: Study,
  seed: number,
  stages: ReadonlyArray<RunState.RunState>,
  directories: ReadonlyArray<string>
) {
  const result = seedResult(seed, stages, source)
  if (result === null || (takesOff !== true && measures === undefined)) return result
  const steps = (yield* Effect.forEach(directories, Curves.pointsOf)).flat()
  const seconds = Number.sumAll(yield* Effect.forEach(directories, host.seconds))
  const means = (measures ?? []).flatMap(({ metric }) => {
    const values = steps.flatMap((point) => point[metric] ?? [])
    return values.length === 0 ? [] : [[metric, Number.sumAll(values) / values.length] as const]
  })
  if (takesOff !== true) return { ...result, training: { seconds, means: Object.fromEntries(means) } }
  const rewards = steps.map((point) => point["reward/mean"] ?? null)
  const weights = stages.at(-1)?.checkpoints.at(-1)?.checkpoint.hash ?? ""
  return { ...result, takeOff: { step: stepOf(rewards), rewards, seconds, underFirst: result.underFirst, weights } }
})

/** The line of a finished run. */
const line = (study: Study, { em, rollouts }: SeedResult, elapsed: number): string =>
  `  ${measureOf(study)} ${percent(em)} after ${rollouts} rollouts; ${duration(elapsed)} so far`

/** The config with the questions of the study, in a file and without search; unchanged if the study has none. */
const withQuestions = Effect.fnUntraced(function* <E, R>(
  host: Host<E, R>,
  { name, questions: make }: Study,
  config: RunConfig,
  out: string
) {
  if (make === undefined) return config
  const file = `${out}/${name}.questions.jsonl`
  const rows = make(heldOutOf * config.evaluation.questions).map(({ dataSource, goldenAnswers, id, question }) => ({
    id,
    question,
    golden_answers: goldenAnswers,
    data_source: dataSource
  }))
  yield* host.write(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""))
  return { ...config, data: { ...config.data, questions: file, corpus: null } }
})

/** Without splits in the rows, one question in so many is a test question. */
const heldOutOf = 5

/** The seeds of the main arms and of the others; fails if an arm would have no run. */
const seedsOf = Effect.fnUntraced(function* (
  input: Pick<StudyInput, "furtherSeeds" | "seeds">,
  study: Study,
  chosen: ReadonlyArray<Arm>
) {
  const read = (flag: string, text: string) =>
    Effect.mapError(Effect.fromResult(parseSeeds(flag, text)), (problem) => new InvalidStudy({ problem }))
  const seeds = yield* read("--seeds", input.seeds)
  const furtherSeeds = new Set(yield* read("--further-seeds", input.furtherSeeds))
  const further = chosen.filter((arm) => !isMain(study, arm)).map(({ name }) => name)
  if (further.length > 0 && !seeds.some((seed) => furtherSeeds.has(seed)))
    return yield* new InvalidStudy({
      problem:
        `--further-seeds is ${input.furtherSeeds} and --seeds ${input.seeds}, without a common seed, so ` +
        `${further.join(", ")} would not run. Set --further-seeds ${input.seeds}, or select other --arms.`
    })
  return { seeds, furtherSeeds }
})

const isMain = ({ main }: Study, { name }: Arm): boolean => main?.includes(name) ?? true

/** The command that repeats the study. */
const commandOf = (program: string, study: Study, input: StudyInput): string =>
  commandLine(
    [
      `${program} ${study.name}`,
      ...(input.scale === "small" ? [] : [`--scale ${input.scale}`]),
      `--seeds ${input.seeds} --further-seeds ${input.furtherSeeds}`
    ],
    input,
    input.testQuestions === 0 ? [] : [`--test-questions ${input.testQuestions}`]
  )

/** The named arms of a preset and those they need, in the order of the bench. */
const chooseArms = Effect.fnUntraced(function* (study: Study, preset: string, list: Option.Option<string>) {
  const arms = study.arms.filter((arm) => arm.preset === undefined || arm.preset === preset)
  if (arms.length === 0)
    return yield* new InvalidStudy({ problem: `${study.name} has no arms for the preset ${preset}, expected quick.` })
  const wanted = new Set<string>()
  const add = (arm: Arm): void => {
    wanted.add(arm.name)
    for (const need of arms.filter(({ name }) => arm.needs.includes(name))) add(need)
  }
  for (const arm of yield* named(arms, list)) add(arm)
  return arms.filter(({ name }) => wanted.has(name))
})

/** Fails if the test questions of checkpoints cannot be evaluated. */
const assertTests = ({ draws, name }: Study, { checkpoint, evaluation }: RunConfig, questions: number) => {
  const problem =
    questions === 0
      ? null
      : draws === undefined
        ? `--test-questions is only valid for curves, not for ${name}.`
        : questions < 0 || questions > evaluation.questions
          ? `--test-questions is ${questions}, expected 0 to ${evaluation.questions}, which is evaluation.questions.`
          : checkpoint.keep === null
            ? null
            : `--test-questions needs every checkpoint, but checkpoint.keep is ${checkpoint.keep}. Add --set checkpoint.keep=null, ` +
              "and --set checkpoint.every=10 for one every ten steps."
  return problem === null ? Effect.void : Effect.fail(new InvalidStudy({ problem }))
}

/** The hardware of the runs. */
export const hardware = (): string => {
  const cores = cpus()
  return `${cores.length} cores (${cores[0]?.model ?? "unknown"}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.versions.node}`
}

/** Settings with which every arm finishes in seconds. */
const smoke: ReadonlyArray<string> = [
  "schedule.steps=4",
  "schedule.pruneEvery=2",
  "schedule.evolveEvery=2",
  "schedule.evolveUntil=2",
  "selection.removal=bottom-half",
  "verification.samples=4",
  "selection.rounds=1",
  "rollout.groupSize=2",
  "train.batchSize=8",
  "train.miniBatch.size=8",
  "data.world.questions=80",
  "evaluation.questions=16"
]
