import { Checkpoint, ModelConfig, ModelFolder, Supervised, TokenizerFiles } from "@inspo/engine-local"
import { fromFiles } from "@inspo/engine/HuggingFaceTokenizer"
import { Effect, Equal, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { defaultRates } from "../Behaviours.ts"
import * as Examples from "../Examples.ts"
import * as Training from "../Training.ts"
import { vocabulary } from "../Vocabulary.ts"

/** `pretrain train`: trains on demonstrations and writes a model folder. */
export const train = Command.make(
  "train",
  {
    out: Flag.Directory("out").pipe(Flag.withDescription("Folder to write the model to")),
    seed: Flag.Int("seed").pipe(
      Flag.withDescription("Decides the worlds, the examples and the initial weights"),
      Flag.withDefault(0)
    ),
    steps: Flag.Int("steps").pipe(
      Flag.withDescription("Number of optimizer steps"),
      Flag.withDefault(Training.defaultOptions.steps)
    ),
    null: Flag.Boolean("null").pipe(
      Flag.withDescription("Demonstrators ignore the clauses of the instruction"),
      Flag.withDefault(false)
    ),
    init: Flag.Directory("init", { mustExist: true }).pipe(
      Flag.withDescription("Model folder to start from, instead of random weights"),
      Flag.optional
    )
  },
  Effect.fn("pretrain.train")(function* (options) {
    const files = TokenizerFiles.makeTokenizerFiles(vocabulary)
    const tokenizer = fromFiles(files)
    const config = { ...shape, vocabulary: tokenizer.vocabularySize }
    const parameters = Option.isSome(options.init)
      ? yield* parametersOf(options.init.value, config)
      : ModelConfig.initialParameters(config, `pretrain/${options.seed}`)
    const examples = yield* Examples.make(tokenizer, {
      ...Examples.defaultOptions,
      seed: options.seed,
      rates: { ...defaultRates, obedient: !options.null }
    })
    const trainer = yield* Supervised.makeSupervisedTrainer({ config, parameters })
    const schedule = { ...Training.defaultOptions, steps: options.steps }
    yield* Training.train(trainer, examples, schedule, (progress) =>
      progress.step % reportEvery === 0 || progress.step === options.steps ? report(progress) : Effect.void
    )
    const hash = yield* ModelFolder.write(options.out, {
      name: options.null ? "inspo-tiny-null" : "inspo-tiny",
      model: config,
      parameters: trainer.parameters,
      tokenizerFiles: files
    })
    yield* Effect.log(`wrote ${options.out}, weights ${hash}`)
  }, Effect.scoped)
).pipe(Command.withDescription("Pre-train the model from demonstrations in generated worlds"))

/** The shape of the shipped model: 0.4 M parameters, 320 tokens of context. */
const shape: Omit<ModelConfig.ModelConfig, "vocabulary"> = {
  width: 96,
  layers: 3,
  heads: 4,
  keyValueHeads: 1,
  feedForward: 4,
  context: 320
}

/** The weights of another folder, whose model must have the same shape. */
const parametersOf = Effect.fnUntraced(function* (folder: string, config: ModelConfig.ModelConfig) {
  const { model, parameters } = yield* ModelFolder.read(folder)
  return Equal.equals(model, config)
    ? parameters
    : yield* new Checkpoint.CheckpointError({
        path: folder,
        reason: `the model is ${JSON.stringify(model)}, expected ${JSON.stringify(config)}`
      })
})

const reportEvery = 50

const report = ({ step, loss, gradientNorm, tokensPerSecond }: Training.Progress) =>
  Effect.log(
    `step ${step}: loss ${loss.toFixed(4)}, gradient norm ${gradientNorm.toFixed(2)}, ${Math.round(tokensPerSecond)} tokens/s`
  )
