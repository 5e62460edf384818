import { join } from "node:path"
import { foldStored, type RunState, Selection } from "@inspo/coevolution"
import { type RunConfig, isEmbedded } from "@inspo/config"
import { Invariant } from "@inspo/domain"
import { Effect, FileSystem, Option, type PlatformError, Result } from "effect"
import { orUsage } from "../config/Input.ts"
import { parseSet, resolve } from "../config/Resolve.ts"
import { commandFailure, usageError } from "../Failure.ts"
import { chooseAnother, claim } from "../runDirectory/Claim.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { readRun } from "../runDirectory/Read.ts"
import * as Trust from "../runDirectory/Trust.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import * as Stored from "../serve/StoredPopulations.ts"
import * as Reporter from "../terminal/Reporter.ts"
import type { Finished } from "./Internalize.ts"

export interface ExportInput {
  readonly directory: string
  readonly out: string
  /** So many updates train the policy to act without its instruction; none by default. */
  readonly internalize: Option.Option<number>
  /** Whether these updates also train on texts about each clause. */
  readonly clauses?: boolean
  /** Changes of the deployment for that, such as `engine.url`. */
  readonly set: ReadonlyArray<string>
}

/**
 * Writes the files to deploy a finished run: `instruction.txt`, `manifest.json` and, from the embedded engine, the
 * trained policy as a model folder (`model.safetensors`, `tokenizer.json`, `tokenizer_config.json`, `config.json`). A
 * policy on a server remains there; the manifest names its checkpoint. With `internalize` the policy is trained to act under the
 * seed instruction before, which is then the one to deploy.
 */
export const exportRun = Effect.fn("Export.export")(function* (input: ExportInput) {
  const { directory, internalize: updates, out } = input
  if (Option.isNone(updates) && (input.clauses === true || input.set.length > 0))
    return yield* usageError(
      `${input.clauses === true ? "--clauses" : `--set ${input.set.join(" ")}`} is for --internalize. Add that, or leave it out.`
    )
  const place = yield* Stored.findOne(directory)
  if (place !== null) {
    if (Option.isSome(updates))
      return yield* usageError(
        `${directory} is a served population, whose policy is elsewhere. Leave out --internalize.`
      )
    const { exportPopulation } = yield* Effect.promise(() => import("../serve/Export.ts"))
    return yield* exportPopulation(place, out)
  }
  const { config, events } = yield* readRun(directory)
  const state = yield* foldStored({ algorithm: config }, events)
  const { phase } = state
  if (phase._tag !== "Finished")
    return yield* commandFailure(`The run in ${directory} is not finished. Continue it with \`resume\` first.`)
  const best = state.instructions.find(({ id }) => id === phase.best)
  const { rule, step } = Selection.selected(config, state)
  const saved = state.checkpoints.find((known) => known.step === step)
  if (best === undefined || saved === undefined)
    return yield* commandFailure(`The checkpoint of step ${step} of ${directory} was not kept.`)

  const { directory: target, discard } = yield* claim(out, chooseAnother)
  const embedded = isEmbedded(config)
  const run: Finished = { directory, config, events, best, seed: firstOf(state), saved }
  const made = Option.isNone(input.internalize)
    ? null
    : yield* internalized(run, { ...input, updates: input.internalize.value }).pipe(Effect.onError(() => discard))
  const { hash, uri } = made?.checkpoint ?? saved.checkpoint
  const deployed = made === null ? best : run.seed
  const manifest = {
    instruction: { id: deployed.id, text: deployed.text },
    ...(made === null ? {} : { internalized: made.report }),
    promptTemplate: config.rollout.texts.prompt,
    policy: embedded
      ? { step, rule, hash, folder: "model" }
      : { step, rule, hash, checkpoint: uri, baseModel: config.policy.model ?? config.engine.model },
    rollout: { agent: config.rollout.agent, tools: config.rollout.tools, maxTurns: config.rollout.maxTurns }
  }
  yield* Effect.gen(function* () {
    if (embedded)
      yield* writeModel(config, {
        checkpoint: `${made?.folder ?? filesOf(directory).checkpoints}/${uri}`,
        hash,
        folder: join(target, "model")
      })
    yield* replaceFile(join(target, "instruction.txt"), `${deployed.text}\n`)
    yield* replaceFile(join(target, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  }).pipe(Effect.onError(() => discard))

  yield* Reporter.print({ directory: target, ...manifest }, (columns) => [
    ...(made === null ? [] : [...made.lines(columns), ""]),
    `${target} holds ${deployed.id}, ${made === null ? "the best instruction" : "the seed instruction"}, ` +
      `${embedded ? "and" : "and the name of"} the policy after step ${step}${made === null ? "" : " and these updates"}.`,
    ...(embedded ? [`Try it with: --set engine.model=${join(target, "model")}`] : [])
  ])
}, Effect.scoped)

const internalized = Effect.fnUntraced(function* (run: Finished, input: ExportInput & { readonly updates: number }) {
  const { internalize, lines } = yield* Effect.promise(() => import("./Internalize.ts"))
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const sets = yield* orUsage(Result.all(input.set.map(parseSet)))
  const config = yield* orUsage(resolve(run.config, sets))
  yield* Trust.ensureChanged(run.directory, { before: run.config, after: config, use: "eval" })
  const { checkpoint, report } = yield* internalize(
    { ...run, config },
    { updates: input.updates, clauses: input.clauses === true, folder, reporter: yield* Reporter.make() }
  )
  return { checkpoint, folder, report, lines: (columns: number) => lines(report, columns) }
})

const firstOf = ({ instructions }: RunState.RunState) => Invariant.at(instructions, 0, "instruction")

const writeModel = Effect.fnUntraced(function* (
  { engine }: RunConfig,
  { checkpoint, folder, hash }: { readonly checkpoint: string; readonly hash: string; readonly folder: string }
) {
  const fs = yield* FileSystem.FileSystem
  const { Checkpoint, ModelFolder } = yield* Effect.promise(() => import("@inspo/engine-local"))
  const source = engine.model ?? ModelFolder.shipped
  const { model } = yield* ModelFolder.read(source)
  const { parameters } = yield* Checkpoint.read(checkpoint, model, hash)
  yield* Checkpoint.write(join(folder, "model.safetensors"), model, { parameters, optimizer: null })
  yield* Effect.forEach(["config.json", "tokenizer.json", "tokenizer_config.json"], (name) =>
    Effect.mapError(fs.copyFile(join(source, name), join(folder, name)), unwritable(folder))
  )
})

const unwritable = (folder: string) => (error: PlatformError.PlatformError) =>
  commandFailure(`The model cannot be written to ${folder} (${error.reason._tag}).`)
