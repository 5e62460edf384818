import type { EngineError, Sequence, TrainMetrics, TrainRequest } from "@inspo/engine"
import { Effect } from "effect"
import { sumAll } from "effect/Number"
import type { Parts } from "./Parts.ts"
import type * as Wire from "../../../Wire.ts"
import type { Limits } from "../Limits.ts"
import * as Losses from "../Losses.ts"
import type { Gradient, Model } from "../Models.ts"
import { json, type Outcome } from "../Outcomes.ts"
import { atMost, type Refusal, refuse, answered } from "../Refusal.ts"
import * as Target from "../Target.ts"

/** Gradients, which wait with their model, and the optimizer's steps that they are for. */
export const make = ({ engine, limits, loaded, submissions }: Parts) => {
  /** An untouched model is the reference policy, for which no weights need to move. */
  const score = ({ version, weights }: Model, sequences: ReadonlyArray<Sequence>) =>
    version === 0
      ? loaded.alone(engine.score("reference", sequences))
      : loaded.using(weights, engine.score("current", sequences))

  /** The losses of datums; their gradient waits when `keep`. */
  const losses = Effect.fnUntraced(function* (
    model: Model,
    input: Wire.LossInput,
    keep: boolean
  ): Effect.fn.Return<Outcome, Refusal | EngineError> {
    yield* checkSize(model, input, keep, limits)
    const loss = yield* Losses.loss(input, engine.profile)
    const targets = yield* Effect.forEach(input.data, (datum, index) =>
      Target.read(datum, input.loss_fn, `data[${index}]`, engine.tokenizer.vocabularySize)
    )
    const logprobs = yield* score(model, targets)
    const outside = yield* outsideLogprobs((sequences) => score(model, sequences), targets, limits.tokens)
    const parts = targets.map((target, index) => Losses.toDatum(target, loss, logprobs[index] ?? []))
    const total = parts.reduce((sum, { losses }) => sum + sumAll(losses), 0)
    if (keep) model.pending.push({ clip: loss.clip, loss: total, datums: parts.map(({ datum }) => datum) })
    return {
      _tag: "Losses",
      value: {
        loss_fn_output_type: "scalar",
        loss_fn_outputs: parts.map(({ losses }, index) => ({
          elementwise_loss: tensor((targets[index]?.prompt ?? []).slice(1).fill(0).concat(losses)),
          logprobs: tensor(outside(index, logprobs[index] ?? []))
        })),
        metrics: { "loss:sum": total }
      }
    }
  })

  return {
    forward: (request: typeof Wire.ForwardRequest.Type, digest: string) =>
      submissions.inOrder("forward", request, digest, (model) => losses(model, request.forward_input, false)),

    forwardBackward: (request: typeof Wire.ForwardBackwardRequest.Type, digest: string) =>
      submissions.inOrder("forward_backward", request, digest, (model) =>
        Effect.tapError(answered(losses(model, request.forward_backward_input, true)), ({ message }) =>
          Effect.sync(() => (model.lost ??= message))
        )
      ),

    optimStep: (request: typeof Wire.OptimStepRequest.Type, digest: string) =>
      submissions.inOrder("optim_step", request, digest, (model) =>
        Effect.gen(function* () {
          const gradients = yield* takeGradients(model)
          const step = yield* toStep(model, request, gradients)
          const metrics = yield* loaded.using(
            model.weights,
            Effect.suspend(() => {
              model.weights.dirty = true
              return Effect.tap(engine.train(step), () => Effect.sync(() => (model.version += 1)))
            })
          )
          return json({ metrics: toWire(metrics, gradients) })
        })
      )
  }
}

const checkSize = Effect.fnUntraced(function* (model: Model, { data }: Wire.LossInput, keep: boolean, limits: Limits) {
  yield* atMost("data", data.length, limits.datums, "datums")
  const tokens = data.reduce((total, { model_input }) => total + lengthOf(model_input), 0)
  yield* atMost("data", tokens, limits.tokens, "tokens")
  const waiting = model.pending.reduce((total, { datums }) => total + tokensOf(datums), 0)
  if (keep && waiting + tokens > limits.pendingTokens)
    return yield* refuse(
      `the gradients that wait for an optim_step would be of ${waiting + tokens} tokens, expected at most ${limits.pendingTokens}`
    )
})

/** The gradients that wait with a model; they wait no longer, even where one of them is missing. */
const takeGradients = (model: Model): Effect.Effect<ReadonlyArray<Gradient>, Refusal> =>
  Effect.suspend(() => {
    const { lost, pending } = model
    model.pending = []
    model.lost = null
    return lost === null
      ? Effect.succeed(pending)
      : Effect.fail(
          refuse(`no step was made, since a gradient of it failed (${lost}); send all of its gradients again`)
        )
  })

const toStep = Effect.fnUntraced(function* (
  model: Model,
  { adam_params: adam, seq_id }: typeof Wire.OptimStepRequest.Type,
  gradients: ReadonlyArray<Gradient>
): Effect.fn.Return<TrainRequest, Refusal> {
  const bounds = gradients.flatMap(({ clip }) => clip ?? [])
  if (new Set(bounds.map(({ clipHigh, clipRatio }) => `${clipRatio} ${clipHigh}`)).size > 1)
    return yield* refuse("the gradients of this step clip ratios differently, expected one loss config per step")
  const [bound = { clipRatio: Infinity }] = bounds
  const clip = adam.grad_clip_norm ?? 0
  return {
    key: `${model.id}#${seq_id ?? `v${model.version + 1}`}`,
    datums: gradients.flatMap(({ datums }) => datums),
    loss: { ...bound, klCoefficient: 0 },
    optimizer: {
      learningRate: adam.learning_rate ?? 1e-4,
      beta1: adam.beta1 ?? 0.9,
      beta2: adam.beta2 ?? 0.95,
      epsilon: adam.eps ?? 1e-12,
      weightDecay: adam.weight_decay ?? 0,
      gradientClip: clip > 0 ? clip : Infinity
    }
  }
})

const toWire = (metrics: TrainMetrics, gradients: ReadonlyArray<Gradient>) => ({
  // The engine's loss is that of datums made for another surrogate where this server made them.
  "inspo.ai/loss": gradients.some(({ clip }) => clip === null)
    ? gradients.reduce((sum, { loss }) => sum + loss, 0)
    : metrics.loss,
  "inspo.ai/kl": metrics.kl,
  // Unknown where the server clipped before the engine saw the datums.
  ...(gradients.some(({ clip }) => clip === null) ? {} : { "inspo.ai/clip_fraction": metrics.clipFraction }),
  "inspo.ai/gradient_norm": metrics.gradientNorm,
  "inspo.ai/tokens": metrics.tokens
})

const tensor = (data: ReadonlyArray<number>): Wire.TensorData => ({ data, dtype: "float32", shape: [data.length] })

const lengthOf = ({ chunks }: Wire.ModelInput): number => chunks.reduce((total, { tokens }) => total + tokens.length, 0)

const tokensOf = (sequences: ReadonlyArray<Sequence>): number =>
  sequences.reduce((total, { prompt, response }) => total + prompt.length + response.length, 0)

/**
 * The log-probabilities of targets at all positions of their inputs, those included that do not count: before the first one
 * that does, and where the target is not the next token of the input. The result completes, for target number `index`,
 * what is known of its response. What several targets share is scored once, and at most `most` tokens are.
 */
const outsideLogprobs = Effect.fnUntraced(function* <E>(
  score: (sequences: ReadonlyArray<Sequence>) => Effect.Effect<ReadonlyArray<ReadonlyArray<number>>, E>,
  targets: ReadonlyArray<Target.Target>,
  most: number
) {
  const wanted = new Map<string, Sequence>()
  let tokens = 0
  for (const target of targets) {
    yield* Effect.yieldNow
    for (const sequence of outsideOf(target)) {
      const key = keyOf(sequence)
      if (wanted.has(key)) continue
      wanted.set(key, sequence)
      tokens += sequence.prompt.length + sequence.response.length
      if (tokens > most)
        return yield* refuse(
          `the targets before the first that counts, or that are not the next token, take more than ${most} tokens to score, ` +
            "expected fewer: send fewer datums at once"
        )
    }
  }
  const scores = wanted.size === 0 ? [] : yield* score(Array.from(wanted.values()))
  const known = new Map(Array.from(wanted.keys(), (key, at) => [key, scores[at] ?? []]))
  return (index: number, response: ReadonlyArray<number>): ReadonlyArray<number> => {
    const target = targets[index]
    if (target === undefined) return response
    const whole = (known.get(keyOf(before(target))) ?? []).concat(response)
    for (const { index: at, token } of target.strays)
      whole[at] = known.get(keyOf(instead(target, at, token)))?.[0] ?? NaN
    return whole
  }
})

function* outsideOf(target: Target.Target): Generator<Sequence> {
  if (target.prompt.length > 1) yield before(target)
  for (const { index, token } of target.strays) yield instead(target, index, token)
}

/** The prompt, given its first token. */
const before = ({ prompt }: Target.Target): Sequence => ({ prompt: prompt.slice(0, 1), response: prompt.slice(1) })

/** Another token than the one that follows position `index` of the input. */
const instead = ({ prompt, response }: Target.Target, index: number, token: number): Sequence => ({
  prompt: [...prompt, ...response].slice(0, index + 1),
  response: [token]
})

const keyOf = ({ prompt, response }: Sequence): string => `${prompt.join()};${response.join()}`
