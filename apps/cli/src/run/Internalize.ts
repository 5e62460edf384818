import { ClauseTexts, Internalizing, type RunEvent, type RunState } from "@inspo/coevolution"
import { type RunConfig, algorithmOf, isEmbedded } from "@inspo/config"
import { Text, interval, percent, plural } from "@inspo/report"
import { Interval } from "@inspo/statistics"
import { type Instruction, type Question, RandomStream, Trajectory } from "@inspo/domain"
import { type CheckpointRef, Engine } from "@inspo/engine"
import { Records } from "@inspo/journal"
import { Rollout } from "@inspo/rollout"
import { Array as Arr, Effect, FileSystem, Schema } from "effect"
import { loadData } from "../config/Data.ts"
import { commandFailure, usageError } from "../Failure.ts"
import { layerRollout } from "../layers.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { withJournal } from "../runDirectory/Read.ts"
import type { Reporter } from "../terminal/Reporter.ts"

export interface Finished {
  readonly directory: string
  readonly config: RunConfig
  readonly events: ReadonlyArray<RunEvent>
  readonly best: Instruction.Instruction
  readonly seed: Instruction.Instruction
  readonly saved: RunState.RunState["checkpoints"][number]
}

/** The mean reward of a policy on the test questions; the interval is Wilson's. */
const Cell = Schema.Struct({
  policy: Schema.Literals(["before", "after"]),
  instruction: Schema.String,
  n: Schema.Int,
  mean: Schema.Finite,
  ci95: Schema.Tuple([Schema.Finite, Schema.Finite])
})
type Cell = typeof Cell.Type

/** What `manifest.json` has of it: `likelihood` is the mean log-probability of a token before the first and the last update. */
export const Internalized = Schema.Struct({
  instruction: Schema.Struct({ id: Schema.String, text: Schema.String }),
  rollouts: Schema.Int,
  updates: Schema.Int,
  texts: Schema.optionalKey(Schema.Int),
  likelihood: Schema.Struct({ first: Schema.Finite, last: Schema.Finite }),
  cells: Schema.Array(Cell)
})
export interface Internalized extends Schema.Schema.Type<typeof Internalized> {}

/**
 * Trains the policy of a run to act under the seed instruction as it does under the best one, and measures both before and after. The
 * run is only read; `folder` gets the checkpoint of the embedded engine.
 */
export const internalize = Effect.fn("Internalize.internalize")(function* (
  run: Finished,
  {
    clauses,
    folder,
    reporter,
    updates
  }: { readonly updates: number; readonly clauses: boolean; readonly folder: string; readonly reporter: Reporter }
) {
  const { best, config, directory, saved, seed } = run
  yield* check(run, updates)
  const loaded = yield* loadData(config)
  const rewarded = yield* rewardedOf(run)
  if (isEmbedded(config))
    yield* copy(`${filesOf(directory).checkpoints}/${saved.checkpoint.uri}`, folder, saved.checkpoint)
  return yield* Effect.gen(function* () {
    const engine = yield* Engine
    if (engine.profile.trains === false)
      return yield* commandFailure(`The engine ${engine.profile.name} does not train, so the policy cannot be changed.`)
    yield* engine.restore(saved.checkpoint, { optimizer: "fresh" })
    const test = Arr.take(loaded.data.test, config.evaluation.questions)
    const measure = (policy: Cell["policy"]) =>
      Effect.forEach([seed, best], (instruction) => cell(policy, instruction, test, config.randomSeed))
    const texts = clauses ? ClauseTexts.of(best.text, seed.text) : []
    const before = yield* measure("before")
    const likelihoods = yield* Internalizing.internalize({
      algorithm: algorithmOf(config),
      instruction: seed,
      rewarded,
      questions: new Map(loaded.data.train.map((question) => [question.id, question])),
      updates,
      texts,
      onUpdate: (made) => reporter.block([`made ${made} of ${plural(updates, "update")}`])
    })
    yield* reporter.block([])
    const checkpoint = yield* engine.save(`internalized-${saved.step}`)
    const report: Internalized = {
      instruction: { id: best.id, text: best.text },
      rollouts: rewarded.length,
      updates,
      ...(clauses ? { texts: texts.length } : {}),
      likelihood: { first: likelihoods[0] ?? 0, last: likelihoods.at(-1) ?? 0 },
      cells: [...before, ...(yield* measure("after"))]
    }
    return { checkpoint, report }
  }).pipe(Effect.provide(layerRollout(config, loaded.passages, folder)))
}, Effect.scoped)

export const lines = (
  { cells, instruction, rollouts, updates }: Internalized,
  columns: number
): ReadonlyArray<string> => [
  ...Text.wrap(
    `Trained with ${plural(updates, "update")} on ${plural(rollouts, "rewarded rollout")} under ${instruction.id} to act under the seed ` +
      "instruction alone. Mean reward on the test questions:",
    columns
  ),
  "",
  ...Text.table([
    ["instruction", "before", "95 % interval", "after", "95 % interval"],
    ...Array.from(
      Map.groupBy(cells, (one) => one.instruction),
      ([name, own]) => [
        name,
        ...(["before", "after"] as const).flatMap((policy) => {
          const found = own.find((one) => one.policy === policy)
          return found === undefined ? ["–", "–"] : [percent(found.mean), interval(found.ci95, percent)]
        })
      ]
    )
  ])
]

const check = Effect.fnUntraced(function* ({ best, config, directory, seed }: Finished, updates: number) {
  if (updates < 1) return yield* usageError(`--internalize is ${updates}, expected at least 1 update.`)
  if (config.policy.model !== null)
    return yield* usageError(
      `policy.model of ${directory} is ${config.policy.model}, a chat model, which cannot be trained. Leave out --internalize.`
    )
  if (best.id === seed.id)
    return yield* usageError(
      `${directory} returned its seed instruction, so there is no other one to internalize. Leave out --internalize.`
    )
})

/** The latest rollouts for training under the best instruction that earned at least half of the full reward. */
const rewardedOf = Effect.fnUntraced(function* ({ best, config, directory, events }: Finished) {
  const ids = events
    .flatMap((event) => (event._tag === "RolloutsCollected" ? event.groups : []))
    .flatMap(({ instructionId, rewards, trajectories }) =>
      instructionId !== best.id ? [] : trajectories.filter((_, place) => (rewards[place] ?? 0) >= least)
    )
    .slice(-mostRollouts)
  const stored = yield* withJournal(directory, config, (journal) =>
    Records.make(journal, "trajectory", Trajectory.Trajectory).get(ids)
  )
  const found = ids.flatMap((id) => stored.get(id) ?? [])
  if (!Arr.isReadonlyArrayNonEmpty(found))
    return yield* commandFailure(
      `No rollout of ${directory} under ${best.id} earned at least half of the full reward, so there is nothing to learn from. ` +
        "Leave out --internalize."
    )
  return found
})

const least = 0.5
const mostRollouts = 2048

const copy = Effect.fnUntraced(function* (file: string, folder: string, { uri }: CheckpointRef) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(fs.copyFile(file, `${folder}/${uri}`), (error) =>
    commandFailure(`The checkpoint ${file} cannot be read (${error.reason._tag}).`)
  )
})

const cell = Effect.fnUntraced(function* (
  policy: Cell["policy"],
  instruction: Instruction.Instruction,
  questions: ReadonlyArray<Question.Question>,
  seed: number
) {
  const rollout = yield* Rollout
  const all = yield* rollout.collect(
    questions.map((question, index) => ({
      id: Trajectory.TrajectoryId.make(`internalize/test/${index}/0`),
      instruction,
      question,
      seed: RandomStream.streamSeed(seed, ["internalize", "test", index])
    }))
  )
  const rewards = all.filter((one) => !Trajectory.isFailed(one)).map(({ reward }) => reward)
  const sum = rewards.reduce((total, reward) => total + reward, 0)
  return {
    policy,
    instruction: instruction.id,
    n: rewards.length,
    mean: rewards.length === 0 ? 0 : sum / rewards.length,
    ci95: Interval.wilson(sum, rewards.length)
  } satisfies Cell
})
