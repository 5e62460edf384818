import { basename, resolve as absolute } from "node:path"
import {
  AlgorithmDiff,
  apply,
  EventLog,
  foldStored,
  type RunEvent,
  type RunEvents,
  RunState,
  Strategies
} from "@inspo/coevolution"
import { type RunConfig, algorithmOf, isEmbedded } from "@inspo/config"
import { Journal } from "@inspo/journal"
import { Array as Arr, Effect, FileSystem, Result } from "effect"
import { Digest } from "effect/crypto"
import { type LoadedData, loadData } from "../config/Data.ts"
import { orUsage } from "../config/Input.ts"
import { parseSet, resolve } from "../config/Resolve.ts"
import * as ModelNotes from "../engine/ModelNotes.ts"
import { commandFailure, usageError } from "../Failure.ts"
import { claim } from "../runDirectory/Claim.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { layerJournal } from "../runDirectory/JournalLayer.ts"
import { readConfig, writeConfig } from "../runDirectory/ConfigFile.ts"
import { layerReading } from "../runDirectory/Read.ts"
import * as Regular from "../runDirectory/Regular.ts"
import * as Trust from "../runDirectory/Trust.ts"

export interface ForkInput {
  readonly directory: string
  /** The last step that the branch shares with the run. */
  readonly at: number
  readonly set: ReadonlyArray<string>
  readonly out: string
}

/**
 * Creates a branch of a run: its events, records and checkpoints up to the end of a step, and its own settings from there
 * on. The run itself is only read, so it may be running, or damaged after that step. `resume` continues the branch.
 */
export const fork = Effect.fn("Fork.fork")(function* (input: ForkInput) {
  const { at, directory, out } = input
  yield* Effect.annotateCurrentSpan({ directory, at, out })
  const parent = yield* readConfig(directory)
  const overrides = yield* orUsage(Result.all(input.set.map(parseSet)))
  const config = yield* orUsage(resolve(withWorld(parent), overrides))
  if (config.schedule.steps < at)
    return yield* usageError(`schedule.steps is ${config.schedule.steps}, expected at least --at, ${at}.`)
  yield* Trust.ensureChanged(directory, { before: parent, after: config, use: "run" })
  const loaded = yield* loadData(config)
  const forking = { ...input, parent, config, loaded }
  const branch = yield* Effect.flatMap(Journal, (journal) => history(journal, forking)).pipe(
    Effect.provide(layerReading(directory, parent), { local: true })
  )
  const { directory: target, discard } = yield* claim(out)
  yield* Trust.remember(target, config)
  yield* write(branch, forking, target).pipe(Effect.onError(() => discard))

  return {
    runDir: target,
    events: branch.events.length,
    records: branch.records.length,
    trainedFrom: branch.trainedFrom
  }
})

/** A branch keeps the world of its run, also under another seed. */
const withWorld = ({ data, randomSeed, ...config }: RunConfig): RunConfig => ({
  ...config,
  randomSeed,
  data: { ...data, world: { ...data.world, randomSeed: data.world.randomSeed ?? randomSeed } }
})

/** The branch that is asked for, and the configs of both. */
interface Forking extends ForkInput {
  readonly parent: RunConfig
  readonly config: RunConfig
  readonly loaded: LoadedData
}

interface Branch {
  readonly events: Arr.NonEmptyReadonlyArray<RunEvent>
  readonly records: ReadonlyArray<{ readonly kind: string; readonly key: string; readonly step: number }>
  readonly checkpoints: ReadonlyArray<string>
  /** The step of the last available checkpoint: what follows is trained again. */
  readonly trainedFrom: number
}

/** What a branch takes from its run. */
const history = Effect.fnUntraced(function* (journal: Journal["Service"], forking: Forking) {
  const { at, config, directory, loaded, parent } = forking
  const { damage, entries } = yield* EventLog.readIntact(journal)
  const events = entries.map(({ event }) => event)
  const [started] = events
  if (started?._tag !== "RunStarted") return yield* damage ?? commandFailure(`The run in ${directory} has not begun.`)
  const foreign = Strategies.difference(started.strategies, strategiesOf(parent))
  if (foreign !== null)
    return yield* usageError(
      `In ${directory} ${foreign}. A branch uses the strategies that its settings name, so this run cannot have one.`
    )
  if (started.data !== loaded.data.fingerprint)
    return yield* usageError(
      `The data are not those of ${directory}. A branch keeps the data of its run: leave data.* unchanged and restore its files.`
    )
  const end = endOfStep(events, at)
  if (end === null) {
    const steps = events.filter(({ _tag }) => _tag === "StepTrained").length
    if (
      at <= steps &&
      events.some((event) => event._tag === "StepPlanned" && event.step === at + 1 && event.policy !== undefined)
    )
      return yield* usageError(
        `--at is ${at}, expected a step that ends before the next one begins: step ${at + 1} of ${directory} was sampled ` +
          `during the update of step ${at} (train.staleness). Give a step with a checkpoint.`
      )
    return yield* damage ?? usageError(`--at is ${at}, expected 0 to ${steps}, the last step of ${directory}.`)
  }

  const available = yield* availableCheckpoints(directory, parent, yield* foldStored({ algorithm: parent }, events))
  const shared = inherited(events.slice(1, end), available)
  const saved = shared.flatMap((event) =>
    event._tag === "CheckpointSaved" && !event.removed.includes(event.step) ? [event] : []
  )
  if (!saved.some(({ step }) => step === 0))
    return yield* commandFailure(`The first checkpoint of ${directory} is missing, and no run can end without it.`)
  const retrained = saved.some(({ step }) => step === at)
    ? undefined
    : AlgorithmDiff.of(algorithmOf(parent), algorithmOf(config)).find(({ field }) => decidesBatches(field))
  if (retrained !== undefined)
    return yield* usageError(
      `The checkpoint of step ${at} is not kept, and its updates cannot be repeated under other settings of train.*: ` +
        `${AlgorithmDiff.describe(retrained)}. Give --at ${saved.map(({ step }) => step).join(" or ")}, or leave the setting unchanged.`
    )

  const forkedFrom: typeof RunEvents.Fork.Type = {
    run: basename(absolute(directory)),
    step: at,
    events: shared.length + 1,
    checkpoints: saved.map(({ step }) => step),
    head: yield* historyHash(shared)
  }
  const taken: Branch["events"] = [
    {
      ...started,
      algorithm: algorithmOf(config),
      strategies: strategiesOf(config),
      search: loaded.data.search,
      forkedFrom
    },
    ...shared
  ]
  yield* assertFits(taken, forking)
  return {
    events: taken,
    records: yield* recordsUpTo(journal, at),
    checkpoints: saved.map(({ checkpoint }) => checkpoint.uri),
    trainedFrom: saved.reduce((latest, { step }) => Math.max(latest, step), 0)
  } satisfies Branch
})

/** The records of the steps up to one, without those that sessions make about servers. */
const recordsUpTo = Effect.fnUntraced(function* (journal: Journal["Service"], at: number) {
  const ofSessions: ReadonlyArray<string> = Object.values(ModelNotes.kinds)
  const kinds = (yield* journal.recordKinds).filter((kind) => !ofSessions.includes(kind))
  const records = yield* Effect.forEach(kinds, (kind) =>
    Effect.map(journal.listKeys(kind), (keys) =>
      keys
        .filter(({ key, step }) => step <= at && !key.startsWith("evaluate/"))
        .map(({ key, step }) => ({ kind, key, step }))
    )
  )
  return records.flat()
})

/** Fails for settings under which the shared steps would differ, such as another schedule. */
const assertFits = Effect.fnUntraced(function* (events: Branch["events"], { at, config, parent }: Forking) {
  yield* foldStored({ algorithm: config }, events).pipe(
    Effect.mapError((cause) => {
      const changed = AlgorithmDiff.of(algorithmOf(parent), algorithmOf(config))
      const scheduled = changed.filter(({ field }) => /^(?:schedule|checkpoint|evaluation)\./u.test(field))
      const named = (scheduled.length === 0 ? changed : scheduled).map((one) => AlgorithmDiff.describe(one)).join(", ")
      return usageError(
        `The first ${at} steps cannot be shared under another schedule: ${named}. ` +
          "Leave these settings unchanged, or give an earlier --at.",
        cause
      )
    })
  )
})

const strategiesOf = (config: RunConfig): Strategies.Identities => Strategies.identities(Strategies.ofAlgorithm(config))

/** The number of events up to the end of a step, its checkpoint included; null if the run did not reach it. */
const endOfStep = (events: ReadonlyArray<RunEvent>, step: number): number | null => {
  const following = events.findIndex(
    (event) =>
      (event._tag === "StepPlanned" && event.step > step) || event._tag === "Evaluated" || event._tag === "RunFinished"
  )
  const end = following < 0 ? events.length : following
  const reached = step === 0 ? 0 : events.findIndex((event) => event._tag === "StepTrained" && event.step === step)
  return reached < 0 || reached >= end || end < 2 ? null : end
}

/** The steps whose checkpoints can still be loaded. */
const availableCheckpoints = Effect.fnUntraced(function* (
  directory: string,
  config: RunConfig,
  { checkpoints }: RunState.RunState
) {
  const fs = yield* FileSystem.FileSystem
  const kept = isEmbedded(config)
    ? yield* Effect.filter(checkpoints, ({ checkpoint: { uri } }) =>
        // A name with folders in it could lead out of the directory.
        uri === basename(uri) ? fs.exists(`${filesOf(directory).checkpoints}/${uri}`) : Effect.succeed(false)
      )
    : checkpoints
  return kept.map(({ step }) => step)
})

/** Events as a branch has them: a checkpoint of a step that is not `available` counts as removed at once. */
export const inherited = (events: ReadonlyArray<RunEvent>, available: ReadonlyArray<number>): ReadonlyArray<RunEvent> =>
  events.map((event) =>
    event._tag === "CheckpointSaved" && !available.includes(event.step)
      ? { ...event, removed: Arr.dedupe([...event.removed, event.step]) }
      : event
  )

/** Whether a setting decides which batches a step trains on, and how. */
const decidesBatches = (field: string): boolean =>
  field === "seed" || field === "rollout.groupSize" || field.startsWith("train.")

/** Identifies what branches share: the events after the first. */
export const historyHash = Effect.fnUntraced(function* (events: ReadonlyArray<RunEvent>) {
  const bytes = new TextEncoder().encode(JSON.stringify(events))
  return yield* Digest.Digest.use((digest) => digest.digestHex(Digest.sha256, bytes)).pipe(
    Effect.provide(Digest.layerWebCrypto)
  )
})

/** How many records are copied at once: so many trajectories fit in memory. */
const recordsAtOnce = 500

/** Writes the config last: a directory without one is not a run. */
const write = Effect.fnUntraced(function* (branch: Branch, { config, directory, parent }: Forking, target: string) {
  const fs = yield* FileSystem.FileSystem
  const files = filesOf(target)
  if (isEmbedded(config)) {
    yield* fs.makeDirectory(files.checkpoints, { recursive: true })
    yield* Effect.forEach(branch.checkpoints, (uri) =>
      Effect.andThen(
        Regular.assertRegular(`${filesOf(directory).checkpoints}/${uri}`),
        fs.copyFile(`${filesOf(directory).checkpoints}/${uri}`, `${files.checkpoints}/${uri}`)
      )
    )
  }
  yield* Effect.gen(function* () {
    const journal = yield* Journal
    yield* Effect.flatMap(Journal, (from) => copyRecords(from, journal, branch.records)).pipe(
      Effect.provide(layerReading(directory, parent), { local: true })
    )
    let state = RunState.unstarted
    const events = yield* Effect.forEach(branch.events, (event) => {
      state = apply({ algorithm: config }, state, event)
      return EventLog.encode(event, state)
    })
    yield* journal.append(events)
  }).pipe(Effect.provide(layerJournal(target, config, "create"), { local: true }))
  yield* writeConfig(target, config)
})

const copyRecords = Effect.fnUntraced(function* (
  from: Journal["Service"],
  to: Journal["Service"],
  records: Branch["records"]
) {
  for (const [kind, ofKind] of Map.groupBy(records, ({ kind }) => kind))
    for (const [step, ofStep] of Map.groupBy(ofKind, ({ step }) => step))
      for (const some of Arr.chunksOf(ofStep, recordsAtOnce)) {
        const values = yield* from.getRecords(
          kind,
          some.map(({ key }) => key)
        )
        yield* to.putRecords(
          kind,
          step,
          [...values].map(([key, value]) => ({ key, value }))
        )
      }
})
