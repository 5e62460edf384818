import { plural } from "@inspo/report"
import { type Degradation, type RunEvent, type RunState, AlgorithmDiff, foldStored } from "@inspo/coevolution"
import { type RunConfig, staticConfig, algorithmOf, judgesOf } from "@inspo/config"
import { Ledger } from "@inspo/ledger"
import { kindOf } from "@inspo/reward"
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"
import { Effect, Schema, Struct, FileSystem } from "effect"
import { commandFailure } from "../Failure.ts"
import { agentOf } from "../layers.ts"
import { folder } from "../Program.ts"
import { Baseline, score } from "../report/Summary.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { appendFile, jsonLines, readJsonLines } from "../runDirectory/Write.ts"
import { writeConfig } from "../runDirectory/ConfigFile.ts"
import { TrustFlag } from "../commands/handler.ts"
import * as MissingTail from "../runDirectory/MissingTail.ts"
import { readLedger, readRun } from "../runDirectory/Read.ts"
import * as Trust from "../runDirectory/Trust.ts"
import type { Reporter } from "../terminal/Reporter.ts"
import { execute, type ExecuteOptions, stopRequested } from "./Execute.ts"
import { watch } from "./Watch.ts"

/** Whether the run is compared with a static arm: with one instruction the run is that arm, and a frozen policy has none. */
export const isCompared = ({ evaluation, population, train }: RunConfig): boolean =>
  evaluation.baseline && evaluation.questions > 0 && population.size > 1 && train.fromStep !== null

/**
 * What decides the result of a static arm: checkpoint, data, config and code, as one SHA-256. Paths, worker counts,
 * checkpoint intervals, and settings that an arm without evolution never reads do not count.
 */
export const cacheKey = (
  config: RunConfig,
  identity: { readonly engine: string; readonly data: string; readonly code: string }
): string => {
  const { engine, evaluation, population, randomSeed, retrieval, reward, rollout, selection } = config
  const { schedule, seedInstruction, train } = config
  const decisive = [
    {
      randomSeed,
      seedInstruction,
      population,
      selection: Struct.pick(selection, [
        "average",
        "window",
        "ties",
        "shares",
        "temperature",
        "assignment",
        "instruction"
      ]),
      rollout,
      retrieval,
      reward,
      train,
      evaluation: Struct.omit(evaluation, ["baseline"])
    },
    schedule.steps,
    [identity.engine, identity.data, identity.code],
    // Prompts differ with the day where the chat template prints it.
    ...(engine.date === null ? [] : [engine.date])
  ]
  return createHash("sha256").update(JSON.stringify(decisive)).digest("hex")
}

/** Whether {@link cacheKey} has all that decides the result: what a program or server answers is not in a config. */
export const isCacheable = (config: RunConfig): boolean =>
  kindOf(config.reward).needs === "attempt" &&
  judgesOf(config).length === 0 &&
  config.retrieval.url === null &&
  config.rollout.mcp.length === 0 &&
  agentOf(config).outside === undefined

/**
 * The static arm of a finished run: from a results file when one holds it, else trained in `baseline/` now, on what the run
 * leaves of its budget. Null where that is too little.
 */
export const baseline = Effect.fn("Baseline.baseline")(function* (
  options: FindOrExecuteOptions & {
    readonly state: RunState.RunState
    readonly events: ReadonlyArray<RunEvent>
    /** Notes what failed in the training of the arm. */
    readonly note: (facts: ReadonlyArray<Degradation.Degradation>) => Effect.Effect<void>
  }
) {
  const { code, directory, loaded, reporter, state } = options
  yield* Effect.annotateCurrentSpan({ directory })
  const started = options.events.find((event) => event._tag === "RunStarted")
  const config = staticConfig(options.config, state.spent.rollouts.train + state.spent.rollouts.verification)
  const key = cacheKey(config, { engine: started?.engine ?? "", data: loaded.data.fingerprint, code })
  const local = `${directory}/../baselines.jsonl`
  const isKept = isCacheable(config)
  for (const file of isKept ? [shipped, local] : []) {
    const known = (yield* readJsonLines(file, Result)).find((result) => result.key === key)
    if (known !== undefined) return { ...known.baseline, source: "cache" as const }
  }

  const { baseline: own, stop } = filesOf(directory)
  const leftOut = ({ cap }: { readonly cap: Ledger.Cap }) => {
    const message =
      `left out, because the run leaves too little of budget.${cap}, ${config.budget[cap]}, for it. Train it with ` +
      `\`inspo resume ${directory} --set budget.${cap}=…\``
    return Effect.as(options.note([{ part: "baseline", step: state.step, count: 1, message }]), null)
  }
  const { total } = Ledger.summarize(yield* readLedger(directory, options.config))
  const budget = budgetAfter(config.budget, total)
  const planned = config.schedule.steps * config.train.batchSize * config.rollout.groupSize
  const reached = Ledger.reached(budget, Ledger.nothing, Ledger.needs.rollouts(planned))
  if (reached !== null) return yield* leftOut(reached)
  yield* reporter.lines([
    "",
    `Static baseline: the seed instruction alone for ${plural(config.schedule.steps, "step")}`
  ])
  const trained = yield* findOrExecute({ ...options, directory: own, config: { ...config, budget } }).pipe(
    Effect.raceFirst(stopRequested(stop)),
    Effect.catchTag("BudgetReached", leftOut)
  )
  if (trained === null) return null
  const evaluated = trained.evaluations.find(({ policy }) => policy === "after")
  if (evaluated === undefined)
    return yield* commandFailure(`The static baseline in ${own} ended without an evaluation.`)
  const { ci95, em } = score(evaluated.groups)
  const found: Baseline = { method: "static", source: "run", rollouts: trained.spent.rollouts.train, em, ci95 }
  yield* options.note(
    trained.degraded.map(({ message, part, ...fact }) => ({
      ...fact,
      part: "baseline",
      message: `${part}: ${message}`
    }))
  )
  // Other runs are compared with an undisturbed arm.
  if (isKept && trained.degraded.length === 0) yield* appendFile(local, jsonLines([{ key, baseline: found }]))
  return found
})

/** What a run leaves of its budget; 0 or less where a limit is used up. */
const budgetAfter = (budget: RunConfig["budget"], { rollouts, seconds, tokens, usd }: Ledger.Amounts) => {
  const left = (cap: Ledger.Cap, used: number) => (budget[cap] === null ? null : budget[cap] - used)
  const counts = { rollouts: left("rollouts", rollouts), tokens: left("tokens", tokens) }
  return { ...budget, ...counts, usd: left("usd", usd), minutes: left("minutes", seconds / 60) }
}

const shipped = fileURLToPath(new URL("baselines.jsonl", folder))

const Result = Schema.Struct({ key: Schema.String, baseline: Baseline })

interface FindOrExecuteOptions extends Pick<
  ExecuteOptions,
  "code" | "config" | "directory" | "launchedAt" | "loaded" | "services"
> {
  readonly reporter: Reporter
}

/** The finished run of a config: read if it exists, continued if it was stopped, else executed. Fails on a run of another config. */
export const findOrExecute = Effect.fn("FindOrExecute.findOrExecute")(function* (options: FindOrExecuteOptions) {
  const fs = yield* FileSystem.FileSystem
  const { config, directory, reporter } = options
  const files = filesOf(directory)
  const noted = yield* MissingTail.listen(directory)
  const known = (yield* fs.exists(files.config)) ? yield* readKnown(directory, config) : null
  if (known !== null) {
    const [other] = AlgorithmDiff.of(algorithmOf(known.config), algorithmOf(config))
    if (other !== undefined)
      return yield* commandFailure(
        `${directory} holds a run with other settings: ${AlgorithmDiff.describe(other)}. Choose another --out, or remove that ` +
          "directory."
      )
    const ledger = known.begun ? yield* readLedger(directory, known.config) : []
    const lost = yield* MissingTail.find(directory, noted, known.events, ledger)
    if (lost !== null) return yield* MissingTail.refusal(directory, lost)
    const state = yield* foldStored({ algorithm: config }, known.events)
    if (state.phase._tag === "Finished") return state
  }
  yield* fs.makeDirectory(directory, { recursive: true })
  yield* Trust.remember(directory, config)
  yield* writeConfig(directory, config)
  const { state } = yield* execute({
    ...options,
    mode: known?.begun === true ? "open" : "create",
    lost: null,
    follow: (_, past) => watch(reporter, config, past)
  })
  return state satisfies RunState.RunState
})

/** A run that exists: it may name what the wanted config names, which the user allowed; `--trust` covers no more. */
const readKnown = Effect.fnUntraced(function* (directory: string, wanted: RunConfig) {
  yield* Trust.remember(directory, wanted)
  return yield* Effect.provideService(readRun(directory), TrustFlag, false)
})
