import { RandomStream } from "@inspo/domain"
import { Effect } from "effect"
import {
  type CheckpointRef,
  type Engine,
  EngineError,
  type EngineProfile,
  type SampledSequence,
  type SampleRequest,
  type Sequence,
  type TrainMetrics,
  type TrainRequest
} from "../Engine.ts"
import type { Tokenizer } from "../Tokenizer.ts"

/**
 * A complete engine in one file: a bigram model, whose next-token logits are a table looked up by the last token, with
 * characters as tokens and plain gradient descent with momentum. It satisfies every law, so that a fault in one part
 * must break the law about that part.
 */
export const make = Effect.sync((): Engine.Interface => {
  const stream = RandomStream.fromText("tabular")
  const reference = Array.from({ length: size * size }, () => 4 * (stream.next() - 0.5))
  let policy: Policy = { logits: reference, momentum: reference.map(() => 0) }
  let held: Policy | null = null
  const saved = new Map<string, Policy>()
  return {
    profile,
    tokenizer,
    sample: (requests) =>
      requests.some(({ prompt }) => prompt.length === 0)
        ? Effect.fail(new EngineError({ operation: "sample", reason: "empty prompt" }))
        : Effect.sync(() =>
            requests.map((request) => ({
              sequences: Array.from({ length: request.n }, (_, index) =>
                sampleOne((held ?? policy).logits, request, index)
              )
            }))
          ),
    train: (request) =>
      Effect.sync(() => {
        const stepped = step(policy, reference, request)
        policy = stepped.policy
        return stepped.metrics
      }),
    score: (which, sequences) =>
      Effect.sync(() =>
        sequences.map((sequence) => scoreOf(which === "current" ? policy.logits : reference, sequence))
      ),
    save: (name) =>
      Effect.sync((): CheckpointRef => {
        saved.set(name, policy)
        return { uri: name, hash: JSON.stringify(policy.logits) }
      }),
    restore: ({ uri }) =>
      Effect.suspend(() => {
        const found = saved.get(uri)
        if (found === undefined) return Effect.fail(new EngineError({ operation: "restore", reason: "missing" }))
        policy = found
        return Effect.void
      }),
    remove: ({ uri }) => Effect.sync(() => void saved.delete(uri)),
    hold: Effect.acquireRelease(
      Effect.sync(() => void (held = policy)),
      () => Effect.sync(() => void (held = null))
    )
  }
})

interface Policy {
  readonly logits: ReadonlyArray<number>
  readonly momentum: ReadonlyArray<number>
}

const alphabet = ["<end>", ..." abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.?:"]
const size = alphabet.length
const endOfSequence = 0
const contextLength = 160

const profile: EngineProfile = {
  name: "tabular",
  model: "bigram",
  parameters: size * size,
  contextLength,
  concurrency: 1,
  clipHigh: true,
  deterministic: true,
  fingerprint: "tabular"
}

const encode = (text: string): ReadonlyArray<number> => Array.from(text, (character) => alphabet.indexOf(character))

const tokenizer: Tokenizer = {
  vocabularySize: size,
  endOfSequence,
  encode,
  decode: (tokens) => tokens.map((token) => alphabet[token]).join(""),
  render: (messages) => messages.map(({ content }) => content).join(""),
  prompt: (messages) => messages.flatMap(({ content }) => encode(content))
}

const last = (tokens: ReadonlyArray<number>): number => tokens.at(-1) ?? NaN

/** The distribution of the token that follows another. */
const logprobsAfter = (logits: ReadonlyArray<number>, token: number): ReadonlyArray<number> => {
  const row = logits.slice(token * size, (token + 1) * size)
  const total = Math.log(row.reduce((sum, logit) => sum + Math.exp(logit), 0))
  return row.map((logit) => logit - total)
}

const scoreOf = (logits: ReadonlyArray<number>, { prompt, response }: Sequence): ReadonlyArray<number> =>
  response.map((token, at) => logprobsAfter(logits, response[at - 1] ?? last(prompt))[token] ?? NaN)

const sampleOne = (logits: ReadonlyArray<number>, request: SampleRequest, index: number): SampledSequence => {
  const random = RandomStream.fromText(`${request.seed}/${index}`)
  const ends = new Set([endOfSequence, ...request.stop.flatMap(encode)])
  const limit = Math.min(request.maxTokens, contextLength - request.prompt.length)
  const tokens: Array<number> = []
  const logprobs: Array<number> = []
  while (tokens.length < limit && !ends.has(tokens.at(-1) ?? NaN)) {
    const distribution = logprobsAfter(logits, tokens.at(-1) ?? last(request.prompt))
    const token = draw(distribution, random.next(), request)
    tokens.push(token)
    logprobs.push(distribution[token] ?? NaN)
  }
  return { tokens, logprobs, stopReason: ends.has(tokens.at(-1) ?? NaN) ? "stop" : "length" }
}

/** One step of gradient descent with momentum. */
const step = (
  policy: Policy,
  reference: ReadonlyArray<number>,
  { datums, loss, optimizer }: TrainRequest
): { readonly policy: Policy; readonly metrics: TrainMetrics } => {
  const gradient = policy.logits.map(() => 0)
  let kl = 0
  for (const datum of datums) {
    const current = scoreOf(policy.logits, datum)
    const anchor = scoreOf(reference, datum)
    datum.response.forEach((token, at) => {
      const ratio = Math.exp((current[at] ?? 0) - (datum.logprobs[at] ?? 0))
      const gap = (anchor[at] ?? 0) - (current[at] ?? 0)
      const advantage = datum.advantages[at] ?? 0
      const weight = datum.weights[at] ?? 0
      const clipped = advantage > 0 ? ratio > 1 + (loss.clipHigh ?? loss.clipRatio) : ratio < 1 - loss.clipRatio
      kl += weight * (Math.exp(gap) - gap - 1)
      const slope = weight * ((clipped ? 0 : -ratio * advantage) + loss.klCoefficient * (1 - Math.exp(gap)))
      const row = datum.response[at - 1] ?? last(datum.prompt)
      logprobsAfter(policy.logits, row).forEach((logprob, other) => {
        const index = row * size + other
        gradient[index] = (gradient[index] ?? 0) + slope * ((other === token ? 1 : 0) - Math.exp(logprob))
      })
    })
  }
  const momentum = policy.momentum.map((value, index) => optimizer.beta1 * value + (gradient[index] ?? 0))
  const logits = policy.logits.map((logit, index) => logit - optimizer.learningRate * (momentum[index] ?? 0))
  const weights = datums.flatMap((datum) => datum.weights.filter((weight) => weight !== 0))
  return {
    policy: { logits, momentum },
    metrics: { loss: 0, kl, clipFraction: 0, gradientNorm: Math.hypot(...gradient), tokens: weights.length }
  }
}

const draw = (logprobs: ReadonlyArray<number>, u: number, { temperature, topP }: SampleRequest): number => {
  const order = Array.from(logprobs.keys()).sort((a, b) => (logprobs[b] ?? 0) - (logprobs[a] ?? 0))
  const [best = 0] = order
  if (temperature === 0) return best
  const weightOf = (token: number) => Math.exp(((logprobs[token] ?? 0) - (logprobs[best] ?? 0)) / temperature)
  const total = order.reduce((sum, token) => sum + weightOf(token), 0)
  let mass = 0
  const nucleus = order.filter((token) => {
    const kept = mass < topP * total
    mass += weightOf(token)
    return kept
  })
  let left = u * nucleus.reduce((sum, token) => sum + weightOf(token), 0)
  return nucleus.find((token) => (left -= weightOf(token)) < 0) ?? best
}
