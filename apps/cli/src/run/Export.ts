import { join } from "node:path"
import { foldStored, Selection } from "@inspo/coevolution"
import { isEmbedded, type RunConfig } from "@inspo/config/RunConfig"
import { Effect, FileSystem, type PlatformError } from "effect"
import { CommandFailure } from "../Failure.ts"
import { claim } from "../runDirectory/Claim.ts"
import { filesOf } from "../runDirectory/Files.ts"
import { readRun } from "../runDirectory/Read.ts"
import { replaceFile } from "../runDirectory/Write.ts"
import * as Stored from "../serve/Stored.ts"
import * as Reporter from "../terminal/Reporter.ts"

export interface ExportInput {
  readonly directory: string
  readonly out: string
  readonly json: boolean
}

/**
 * Writes the files to deploy a finished run: `instruction.txt`, `manifest.json` and, from the embedded engine, the
 * trained policy as a model folder (`model.safetensors`, `tokenizer.json`, `tokenizer_config.json`, `config.json`). A
 * policy on a server remains there; the manifest names its checkpoint.
 */
export const exportRun = Effect.fn("Export.export")(function* ({ directory, json, out }: ExportInput) {
  const place = yield* Stored.findOne(directory)
  if (place !== null) {
    const { exportPopulation } = yield* Effect.promise(() => import("../serve/Export.ts"))
    return yield* exportPopulation(place, { out, json })
  }
  const { config, events } = yield* readRun(directory)
  const state = yield* foldStored({ algorithm: config }, events)
  const { phase } = state
  if (phase._tag !== "Finished")
    return yield* new CommandFailure({
      problem: `The run in ${directory} is not finished. Continue it with \`resume\` first.`
    })
  const best = state.instructions.find(({ id }) => id === phase.best)
  const { rule, step } = Selection.selected(config, state)
  const saved = state.checkpoints.find((known) => known.step === step)
  if (best === undefined || saved === undefined)
    return yield* new CommandFailure({ problem: `The checkpoint of step ${step} of ${directory} was not kept.` })

  const { directory: target, discard } = yield* claim(out)
  const embedded = isEmbedded(config)
  const manifest = {
    instruction: { id: best.id, text: best.text },
    promptTemplate: config.rollout.texts.prompt,
    policy: embedded
      ? { step, rule, hash: saved.checkpoint.hash, folder: "model" }
      : {
          step,
          rule,
          hash: saved.checkpoint.hash,
          checkpoint: saved.checkpoint.uri,
          baseModel: config.policy.provider ?? config.engine.model
        },
    rollout: { agent: config.rollout.agent, tools: config.rollout.tools, maxTurns: config.rollout.maxTurns }
  }
  yield* Effect.gen(function* () {
    if (embedded)
      yield* writeModel(config, {
        checkpoint: `${filesOf(directory).checkpoints}/${saved.checkpoint.uri}`,
        hash: saved.checkpoint.hash,
        folder: join(target, "model")
      })
    yield* replaceFile(join(target, "instruction.txt"), `${best.text}\n`)
    yield* replaceFile(join(target, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  }).pipe(Effect.onError(() => discard))

  yield* Reporter.print(json, { directory: target, ...manifest }, () => [
    `${target} holds ${best.id}, the best instruction, ${embedded ? "and" : "and the name of"} the policy after step ${step}.`,
    ...(embedded ? [`Try it with: --set engine.model=${join(target, "model")}`] : [])
  ])
})

const writeModel = Effect.fnUntraced(function* (
  { engine }: RunConfig,
  { checkpoint, folder, hash }: { readonly checkpoint: string; readonly hash: string; readonly folder: string }
) {
  const fs = yield* FileSystem.FileSystem
  const [ModelFolder, Checkpoint] = yield* Effect.promise(() =>
    Promise.all([import("@inspo/engine-local/ModelFolder"), import("@inspo/engine-local/Checkpoint")])
  )
  const source = engine.model ?? ModelFolder.shipped
  const { model } = yield* ModelFolder.read(source)
  const { parameters } = yield* Checkpoint.read(checkpoint, model, hash)
  yield* Checkpoint.write(join(folder, "model.safetensors"), model, { parameters, optimizer: null })
  yield* Effect.forEach(["config.json", "tokenizer.json", "tokenizer_config.json"], (name) =>
    Effect.mapError(fs.copyFile(join(source, name), join(folder, name)), unwritable(folder))
  )
})

const unwritable = (folder: string) => (error: PlatformError.PlatformError) =>
  new CommandFailure({ problem: `The model cannot be written to ${folder} (${error.reason._tag}).` })
