import { WorldQuestion } from "@inspo/datasets"
import * as LocalEngine from "@inspo/engine-local"
import { ModelFolder } from "@inspo/engine-local"
import { layerBm25 } from "@inspo/retrieval/Bm25"
import { layerExactMatch } from "@inspo/reward"
import { defaultConfig, layer as layerRollout, type RolloutConfig } from "@inspo/rollout"
import { Console, Effect, FileSystem, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { measure, subjects, table } from "../Probe.ts"

/** `pretrain probe`: measures a model in a world that it was not trained on. */
export const probe = Command.make(
  "probe",
  {
    model: Flag.Directory("model", { mustExist: true }).pipe(
      Flag.withDescription("Model folder to measure"),
      Flag.withDefault(ModelFolder.shipped)
    ),
    world: Flag.Int("world").pipe(Flag.withDescription("Seed of the world of the questions"), Flag.withDefault(7)),
    questions: Flag.Int("questions").pipe(
      Flag.withDescription("Number of questions; a fifth of each kind"),
      Flag.withDefault(200)
    )
  },
  Effect.fn("pretrain.probe")(function* (options) {
    const fs = yield* FileSystem.FileSystem
    const { passages, questions } = yield* WorldQuestion.generate({
      seed: options.world,
      mix: { oneHop: 1, twoHop: 1, threeHop: 1, fourHop: 1, comparison: 1 },
      counts: { train: 0, validation: 0, test: options.questions }
    })
    const checkpoints = yield* fs.makeTempDirectoryScoped()
    const environment = layerRollout(rolloutConfig).pipe(
      Layer.provide([LocalEngine.layer({ model: options.model, checkpoints }), layerBm25(passages), layerExactMatch])
    )
    const rows = yield* measure(subjects, questions.test).pipe(Effect.provide(environment))
    yield* Console.log(table(rows))
  }, Effect.scoped)
).pipe(Command.withDescription("Measure the behaviour of the model with each clause"))

/** The environment of the demonstrations: one passage per search, without its title, and enough turns for every question. */
const rolloutConfig: RolloutConfig = {
  ...defaultConfig,
  maxTurns: 5,
  maxResponseTokens: 64,
  maxObservationTokens: 64,
  maxPromptTokens: 200,
  topK: 1,
  texts: { ...defaultConfig.texts, passage: "{text}" },
  scoredTurns: "all"
}
