import { EngineError, type TrainMetrics, type TrainRequest } from "@inspo/engine"
import { Effect, Ref } from "effect"
import type { Profile } from "../../Profile.ts"
import * as Datums from "./Datums.ts"
import type { TrainedModel } from "./TrainedModel.ts"
import type { Training } from "./Training.ts"

/** Training steps of the trained model. */
export const make = Effect.fnUntraced(function* (
  trained: TrainedModel,
  training: Training,
  profile: Profile,
  url: string
) {
  const last = yield* Ref.make<{ readonly key: string; readonly metrics: TrainMetrics } | null>(null)
  return {
    /** Makes a step; the one that was made last is answered again and not made again. */
    train: Effect.fnUntraced(function* (request: TrainRequest) {
      yield* trained.sound("train")
      yield* check(request, url)
      const before = yield* Ref.get(last)
      if (before?.key === request.key) return before.metrics
      const datums = Datums.training(request.datums, profile)
      if (datums.length === 0) return { loss: 0, kl: 0, clipFraction: 0, gradientNorm: 0, tokens: 0 }
      const metrics = yield* trained.change(`the step ${request.key} did not come to its end`, (model) =>
        training.step(model, request, datums)
      )
      yield* Ref.set(last, { key: request.key, metrics })
      return metrics
    }),
    /** Forgets which step was made last. */
    forget: Ref.set(last, null)
  }
})

/** Refuses what the protocol has no place for, before anything is sent. */
const check = ({ datums, loss }: TrainRequest, url: string): Effect.Effect<void, EngineError> => {
  const refuse = (reason: string) => Effect.fail(new EngineError({ operation: "train", reason }))
  const { entropyCoefficient = 0, klCoefficient } = loss
  if (klCoefficient !== 0 || entropyCoefficient !== 0)
    return refuse(
      `klCoefficient is ${klCoefficient} and entropyCoefficient ${entropyCoefficient}, expected 0: the protocol ` +
        "has no such terms in its loss; a KL term can be folded into the advantages"
    )
  const problem = Datums.problem(datums)
  return problem === null ? Effect.void : refuse(`${problem}; nothing was sent to ${url}`)
}
