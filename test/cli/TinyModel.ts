import { ModelConfig, ModelFolder, TokenizerFiles } from "@inspo/engine-local"
import { fromFiles } from "@inspo/engine/HuggingFaceTokenizer"
import { World } from "@inspo/datasets"
import { ClauseBank } from "@inspo/reflection"
import { Effect } from "effect"
import { sets } from "./Inspo.ts"

/** Writes a model folder of random weights: small enough that a whole run takes seconds, and wrong about everything. */
export const writeTinyModel = Effect.fnUntraced(function* (folder: string) {
  const clauseWords = [ClauseBank.seedInstruction, ...ClauseBank.clauses.flatMap(({ texts }) => texts)]
    .join(" ")
    .match(/[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9<>/]+/gu)
  const tokenizerFiles = TokenizerFiles.makeTokenizerFiles([...World.vocabulary, ...(clauseWords ?? []), "Question"])
  const { vocabularySize } = fromFiles(tokenizerFiles)
  const model = {
    vocabulary: vocabularySize,
    width: 16,
    layers: 1,
    heads: 2,
    keyValueHeads: 1,
    feedForward: 2,
    context: 320
  }
  const parameters = ModelConfig.initialParameters(model, "tiny")
  yield* ModelFolder.write(folder, { name: "tiny", model, parameters, tokenizerFiles })
  return ModelConfig.parameterCount(model)
})

/** A run of seconds on the tiny model in `model`, in which pruning, evolution and evaluation all happen. */
export const tinyRun = sets(
  "engine.model=model",
  "schedule.steps=3",
  "schedule.pruneEvery=2",
  "schedule.evolveEvery=2",
  "schedule.evolveUntil=2",
  "selection.removal=bottom-half",
  "population.size=4",
  "proposer.candidates=2",
  "verification.samples=2",
  "selection.rounds=1",
  "rollout.groupSize=2",
  "rollout.maxTurns=1",
  "train.batchSize=4",
  "train.miniBatch.size=4",
  "data.world.questions=40",
  "evaluation.questions=4"
)
