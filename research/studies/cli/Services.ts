/** What the runs of studies are made with, where no setting names it: worlds in the place of a model, and strategies. */
import { Strategies, foldStored } from "@inspo/coevolution"
import type { RunConfig } from "@inspo/config"
import type { Question } from "@inspo/domain"
import { Advantage, Losses } from "@inspo/policy-gradient"
import { Population } from "@inspo/population"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { layerNothing } from "@inspo/retrieval"
import { kindOf, defaultOptions, layer as layerReward } from "@inspo/reward"
import * as Rollout from "@inspo/rollout"
import { Sampler } from "@inspo/sampler"
import { Admission, Removal } from "@inspo/successive-halving"
import { Verification } from "@inspo/verification"
import { Console, Effect, FileSystem, Layer, Option, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { CommandFailure } from "../../../apps/cli/src/Failure.ts"
import { JsonFlag } from "../../../apps/cli/src/commands/handler.ts"
import { agentOf, layerServices } from "../../../apps/cli/src/layers.ts"
import { layerProposer } from "../../../apps/cli/src/proposer/Proposer.ts"
import { exportRun } from "../../../apps/cli/src/run/Export.ts"
import { filesOf } from "../../../apps/cli/src/runDirectory/Files.ts"
import { readRun } from "../../../apps/cli/src/runDirectory/Read.ts"
import * as World from "../src/worlds/World.ts"
import * as WorldEngine from "../src/worlds/WorldEngine.ts"

/** The strategies that replace those of the settings. */
export type Replaced = Partial<Strategies.Strategies>

/** The services of a run in a directory. */
export const layer = (
  config: RunConfig,
  passages: ReadonlyArray<Question.Passage>,
  { directory, strategies }: { readonly directory: string; readonly strategies: Replaced }
): ReturnType<typeof layerServices> => {
  const { checkpoints } = filesOf(directory)
  const found = World.ofModel(config.engine.model)
  const services = found === null ? layerServices(config, passages, checkpoints) : inWorld(config, checkpoints, found)
  return Layer.merge(services, replacing(strategies))
}

const inWorld = (
  config: RunConfig,
  checkpoints: string,
  { policy, world }: NonNullable<ReturnType<typeof World.ofModel>>
) => {
  const kind = kindOf(config.reward)
  if (kind.needs !== "attempt") throw new RangeError("a world rewards by the exact answer")
  const agent = agentOf(config)
  const rewarded = layerReward(kind.make({ ...defaultOptions, scope: agent.answerScope ?? "response" }))
  return Layer.mergeAll(
    Strategies.layer(config),
    Rollout.layer({ ...config.rollout, topK: config.retrieval.topK }, { tools: [], agent }).pipe(
      Layer.provide(Layer.merge(layerNothing, rewarded)),
      Layer.provideMerge(WorldEngine.layer(world, { checkpoints, policy }))
    ),
    layerProposer(config)
  )
}

const replacing = (given: Replaced) =>
  Layer.mergeAll(
    given.valuation === undefined ? Layer.empty : Layer.succeed(Population.Population, given.valuation),
    given.sampler === undefined ? Layer.empty : Layer.succeed(Sampler.Sampler, given.sampler),
    given.removal === undefined ? Layer.empty : Layer.succeed(Removal.Removal, given.removal),
    given.admission === undefined ? Layer.empty : Layer.succeed(Admission.Admission, given.admission),
    given.buffer === undefined ? Layer.empty : Layer.succeed(ReplayBuffer.ReplayBuffer, given.buffer),
    given.verification === undefined ? Layer.empty : Layer.succeed(Verification.Verification, given.verification),
    given.estimator === undefined ? Layer.empty : Layer.succeed(Advantage.Estimator, given.estimator),
    given.surrogate === undefined ? Layer.empty : Layer.succeed(Losses.Surrogate, given.surrogate)
  )

/** Where the trained policy of a finished run is; exports that of the embedded engine once. */
export const exported = Effect.fn("Services.exported")(function* (directory: string, config: RunConfig) {
  const fs = yield* FileSystem.FileSystem
  if (World.ofModel(config.engine.model) !== null) {
    const { events } = yield* readRun(directory)
    const { checkpoints } = yield* foldStored({ algorithm: config }, events)
    return `${filesOf(directory).checkpoints}/${checkpoints.at(-1)?.checkpoint.uri ?? ""}`
  }
  const out = `${directory}-policy`
  if (!(yield* fs.exists(`${out}/model/model.safetensors`)))
    yield* exportRun({ directory, out, internalize: Option.none(), set: [] }).pipe(
      Effect.catchTag("CheckpointError", ({ message }) => Effect.fail(new CommandFailure({ problem: message }))),
      Effect.provideService(JsonFlag, false),
      Effect.provideService(Console.Console, { ...console, log: () => {} })
    )
  return `${out}/model`
})

/** The commit of the code, with `+` if files differ from it; empty outside a repository. */
export const commit = Effect.gen(function* () {
  const [head = "", ...changes] = (yield* git(["rev-parse", "--short=8", "HEAD"])).concat(
    yield* git(["status", "--porcelain", "--untracked-files=no"])
  )
  return changes.length === 0 ? head : `${head}+`
}).pipe(Effect.orElseSucceed(() => ""))

const git = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  const { stdout } = yield* ChildProcess.make("git", args, { stderr: "ignore" })
  const lines = yield* stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.runCollect)
  return [...lines].filter((line) => line !== "")
}, Effect.scoped)
