import { type Datum, EngineError, notFinite, type Sequence, type TrainMetrics, type TrainRequest } from "@inspo/engine"
import { Effect } from "effect"
import * as AdamW from "../AdamW.ts"
import type { ModelConfig } from "../model/ModelConfig.ts"
import { scalar, noDistribution } from "./Values.ts"
import * as PackedBatches from "./PackedBatches.ts"
import type { Programs } from "./Programs.ts"
import type { PolicyName } from "./Protocol.ts"
import { accumulate, type WorkerPool } from "./WorkerPool.ts"

interface PolicyTrainerOptions {
  readonly config: ModelConfig
  readonly pool: WorkerPool
  readonly programs: Programs
  readonly optimizer: AdamW.AdamWState
}

/** The training side of the engine; `train` and its caller change `optimizer` and the pool's current policy. */
export const make = (options: PolicyTrainerOptions) => {
  const { config, optimizer, pool, programs } = options
  return {
    score: Effect.fn("LocalEngine.score")(function* (policy: PolicyName, sequences: ReadonlyArray<Sequence>) {
      for (const [index, sequence] of sequences.entries()) {
        const reason = misfit(config, `sequences[${index}]`, sequence)
        if (reason !== undefined) return yield* new EngineError({ operation: "score", reason })
      }
      const scored = yield* logprobs(options, policy, sequences).pipe(
        Effect.mapError((cause) => new EngineError({ operation: "score", reason: cause.reason, cause }))
      )
      if (scored.some((values) => values.some(Number.isNaN)))
        return yield* new EngineError({ operation: "score", reason: noDistribution })
      return scored
    }),

    train: Effect.fn("LocalEngine.train")(function* ({
      datums,
      loss,
      optimizer: settings
    }: TrainRequest): Effect.fn.Return<TrainMetrics, EngineError> {
      yield* checkDatums(config, datums)
      // The weights change after this, at once and as a whole.
      const { gradient, outputs } = yield* Effect.gen(function* () {
        const distinct = PackedBatches.joinEqual(datums)
        const reference =
          loss.klCoefficient === 0
            ? distinct.map((datum) => datum.logprobs)
            : yield* logprobs(options, "reference", distinct)
        const batches = PackedBatches.trainingBatches(programs, distinct, { ...loss, reference })
        return yield* accumulate(pool, batches, ["loss", "kl", "clipped"])
      }).pipe(
        Effect.interruptible,
        Effect.mapError((cause) => new EngineError({ operation: "train", reason: cause.reason, cause }))
      )

      const total = (name: string) => outputs.reduce((sum, output) => sum + scalar(output, name), 0)
      const gradientNorm = Number.isFinite(total("loss") + total("kl"))
        ? AdamW.tryUpdate(pool.current, gradient, optimizer, settings)
        : null
      if (gradientNorm === null) return yield* notFinite(", so the policy keeps its weights; lower the learning rate")
      const weights = datums.flatMap((datum) => datum.weights.filter((weight) => weight !== 0))
      const weight = weights.reduce((sum, value) => sum + value, 0)
      return {
        loss: total("loss"),
        kl: loss.klCoefficient === 0 || weight === 0 ? 0 : total("kl") / weight,
        clipFraction: weights.length === 0 ? 0 : total("clipped") / weights.length,
        gradientNorm,
        tokens: weights.length
      }
    })
  }
}

/** Log-probabilities of responses, in the order of the sequences. */
const logprobs = Effect.fnUntraced(function* (
  { pool, programs }: PolicyTrainerOptions,
  policy: PolicyName,
  sequences: ReadonlyArray<Sequence>
) {
  const scored = sequences.map((): ReadonlyArray<number> => [])
  yield* Effect.forEach(
    PackedBatches.scoringBatches(programs, sequences),
    ({ plan, batch }) =>
      Effect.map(pool.run("evaluate", { policy, lane: null, outputs: ["logprobs"], batches: [batch] }), ([outputs]) =>
        PackedBatches.unpackLogprobs(plan, outputs?.["logprobs"] ?? new Float32Array(), sequences, (index, values) => {
          scored[index] = values
        })
      ),
    { concurrency: pool.workers, discard: true }
  )
  return scored
})

const checkDatums = Effect.fnUntraced(function* (
  config: ModelConfig,
  datums: ReadonlyArray<Datum>
): Effect.fn.Return<void, EngineError> {
  for (const [index, datum] of datums.entries()) {
    const name = `datums[${index}]`
    const lengths = [datum.logprobs.length, datum.advantages.length, datum.weights.length]
    const reason =
      misfit(config, name, datum) ??
      (lengths.every((length) => length === datum.response.length)
        ? undefined
        : `${name} has ${lengths.join(", ")} logprobs, advantages and weights, expected ${datum.response.length} each`)
    if (reason !== undefined) return yield* new EngineError({ operation: "train", reason })
  }
})

/** Why a sequence cannot be run, if it cannot. */
const misfit = (config: ModelConfig, name: string, { prompt, response }: Sequence): string | undefined => {
  const length = prompt.length + response.length
  if (prompt.length === 0) return `${name}.prompt is empty, expected at least one token`
  if (length > config.context) return `${name} holds ${length} tokens, expected at most ${config.context}`
  const foreign = [...prompt, ...response].find(
    (token) => !(Number.isInteger(token) && token >= 0 && token < config.vocabulary)
  )
  return foreign === undefined ? undefined : `${name} holds token ${foreign}, expected 0 to ${config.vocabulary - 1}`
}
