import { EngineError, type Engine, type Sequence } from "@inspo/engine"
import { Array as Arr, Effect } from "effect"
import type { Profile } from "../../Profile.ts"
import type { Models } from "./Models.ts"
import type { RequestFailure } from "./RequestFailure.ts"
import type { Sampling } from "./Sampling.ts"
import type { TrainedModel } from "./TrainedModel.ts"
import type { Training } from "./Training.ts"

interface ScoringOptions {
  readonly models: Models
  readonly profile: Profile
  readonly sampling: Sampling
  readonly trained: TrainedModel
  readonly training: Training
}

/** Log-probabilities of responses, under the trained model or the base model. */
export const make = (options: ScoringOptions) =>
  Effect.fnUntraced(function* (
    policy: Parameters<Engine.Interface["score"]>[0],
    sequences: ReadonlyArray<Sequence>
  ): Effect.fn.Return<ReadonlyArray<ReadonlyArray<number>>, RequestFailure | EngineError> {
    const model = yield* options.trained.sound("score")
    const empty = sequences.findIndex(({ prompt, response }) => prompt.length === 0 && response.length > 0)
    if (empty >= 0)
      return yield* new EngineError({
        operation: "score",
        reason: `sequences[${empty}].prompt is empty, expected at least one token`
      })
    const answered = sequences.filter(({ response }) => response.length > 0)
    const scores = yield* policy === "current"
      ? options.training.score(model, answered)
      : scoreReference(options, answered)
    const scored = new Map(Arr.zip(answered, scores))
    return sequences.map((sequence) => scored.get(sequence) ?? [])
  })

const scoreReference = Effect.fnUntraced(function* (
  { models, profile, sampling, training }: ScoringOptions,
  sequences: ReadonlyArray<Sequence>
) {
  switch (profile.reference) {
    case "model":
      return yield* training.score(yield* models.reference, sequences)
    case "sampler":
      return yield* sampling.score(yield* models.baseSampler, sequences)
    case "none":
      return yield* new EngineError({
        operation: "score",
        reason: `a server of profile ${profile.name} gives no log-probabilities of its base model, which a KL term needs`
      })
  }
})
