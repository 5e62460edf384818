import { InvalidInput, RandomStream } from "@inspo/domain"
import {
  EngineError,
  type SampleRequest,
  type SampleResult,
  type SampledSequence,
  type Tokenizer,
  unsampled
} from "@inspo/engine"
import { Effect } from "effect"
import type { ModelConfig } from "../model/ModelConfig.ts"
import { PrefixCache } from "./PrefixCache.ts"
import type { DecodedSequence, DecodeRequest } from "./Protocol.ts"
import { deal, type WorkerPool } from "./WorkerPool.ts"

interface SamplerOptions {
  readonly config: ModelConfig
  readonly pool: WorkerPool
  readonly tokenizer: Tokenizer
  readonly prefixCache: boolean
}

/** The sampling side of the engine; `forget` must follow every change of the weights. */
export const make = (options: SamplerOptions) => {
  const { pool } = options
  const prefixes = new PrefixCache(options.prefixCache ? cachedBytes : 0)
  const share = workerShares(pool)
  return {
    forget: () => prefixes.clear(),
    sample: Effect.fn("LocalEngine.sample")(function* (
      requests: ReadonlyArray<SampleRequest>
    ): Effect.fn.Return<ReadonlyArray<SampleResult>, EngineError> {
      const workers = yield* share
      const parts = yield* split(options, prefixes, requests, workers)
      const costs = parts.map(
        ({ decode }) => decode.prompt.length - (decode.cached?.length ?? 0) + decode.samples * decode.maxTokens
      )
      const shares = deal(costs, workers).map((indices) => indices.flatMap((at) => parts[at] ?? []))
      const replies = yield* Effect.forEach(
        shares,
        (share) =>
          pool.run(
            "sample",
            share.map(({ decode }) => decode)
          ),
        { concurrency: "unbounded" }
      ).pipe(Effect.mapError((cause) => new EngineError({ operation: "sample", reason: cause.reason, cause })))

      const results = requests.map(({ n }) => Array.from(unsampled(n).sequences))
      shares.forEach((share, worker) => {
        share.forEach(({ index, first, decode: { prompt } }, at) => {
          const decoded = replies[worker]?.[at] ?? []
          if (options.prefixCache)
            for (const { tokens, keyValues } of decoded)
              prefixes.add({ tokens: [...prompt, ...tokens.slice(0, -1)], keyValues })
          results[index]?.splice(first, decoded.length, ...decoded.map(toSampled))
        })
      })
      return results.map((sequences) => ({ sequences }))
    })
  }
}

/** How many of the idle workers a call takes: those that are made together share them. */
const workerShares = (pool: WorkerPool): Effect.Effect<number> => {
  let calls = 0
  return Effect.suspend(() => {
    calls++
    return Effect.map(Effect.yieldNow, () => Math.max(1, Math.floor(pool.idle() / calls--)))
  }).pipe(Effect.uninterruptible)
}

/** Checks requests and cuts them into parts that so many workers can share. */
const split = Effect.fnUntraced(function* (
  { config, tokenizer }: SamplerOptions,
  prefixes: PrefixCache,
  requests: ReadonlyArray<SampleRequest>,
  workers: number
): Effect.fn.Return<ReadonlyArray<Part>, EngineError> {
  const most = Math.ceil(requests.reduce((total, { n }) => total + n, 0) / workers)
  const parts: Array<Part> = []
  for (const [index, request] of requests.entries()) {
    yield* check(config, index, request)
    const stop = [tokenizer.endOfSequence]
    for (const text of request.stop) stop.push(yield* stopToken(tokenizer, text))
    const { prompt, seed, temperature, topK, topP } = request
    const maxTokens = Math.min(request.maxTokens, config.context - prompt.length)
    if (maxTokens <= 0) continue
    const prefix = prefixes.longestPrefix(prompt)
    const cached = prefix === undefined ? null : { length: prefix.tokens.length, keyValues: prefix.keyValues }
    for (const part of Array.from({ length: Math.ceil(request.n / most) }).keys()) {
      const first = part * most
      const samples = Math.min(most, request.n - first)
      parts.push({
        index,
        first,
        decode: {
          prompt,
          samples,
          maxTokens,
          stop,
          temperature,
          topP,
          topK,
          cached,
          draws: draws(seed, first, samples, maxTokens)
        }
      })
    }
  }
  return parts
})

/** Samples `first` and following of request number `index`. */
interface Part {
  readonly index: number
  readonly first: number
  readonly decode: DecodeRequest
}

/** Log-probabilities in the precision that they are trained and sent with. */
const toSampled = ({ tokens, logprobs, stopped }: DecodedSequence): SampledSequence => ({
  tokens,
  logprobs: logprobs.map(Math.fround),
  stopReason: stopped ? "stop" : "length"
})

/** Some 600 per token for the shipped model. */
const cachedBytes = 128e6

/** `count` rows of uniform draws; sample number `i` of a request has a stream of its own. */
const draws = (seed: string, first: number, count: number, length: number): Float64Array => {
  const result = new Float64Array(count * length)
  for (let sample = 0; sample < count; sample++) {
    const { next } = RandomStream.fromText(JSON.stringify([seed, first + sample]))
    for (let at = 0; at < length; at++) result[sample * length + at] = next()
  }
  return result
}

const stopToken = Effect.fnUntraced(function* (
  tokenizer: Tokenizer,
  text: string
): Effect.fn.Return<number, EngineError> {
  const tokens = tokenizer.encode(text)
  const [token] = tokens
  if (token === undefined || tokens.length > 1) {
    return yield* refuse(
      InvalidInput.sentence({
        field: `stop ${JSON.stringify(text)}`,
        value: `${tokens.length} tokens`,
        expected: "1 token of the vocabulary"
      })
    )
  }
  return token
})

const check = (config: ModelConfig, index: number, request: SampleRequest): Effect.Effect<void, EngineError> => {
  const { prompt, n, maxTokens, temperature, topK = 1, topP } = request
  const wrong = (field: string, value: number | string, expected: string) =>
    refuse(InvalidInput.sentence({ field: `requests[${index}].${field}`, value: String(value), expected }))
  if (prompt.length < 1 || prompt.length > config.context) {
    return wrong("prompt.length", prompt.length, `1 to the context length ${config.context}`)
  }
  const foreign = prompt.find((token) => !(Number.isInteger(token) && token >= 0 && token < config.vocabulary))
  if (foreign !== undefined) return wrong("prompt", `holding ${foreign}`, `tokens of 0 to ${config.vocabulary - 1}`)
  if (!(Number.isInteger(n) && n >= 1)) return wrong("n", n, "an integer from 1")
  if (!(Number.isInteger(maxTokens) && maxTokens >= 0)) return wrong("maxTokens", maxTokens, "an integer from 0")
  if (!(temperature >= 0 && temperature < Infinity)) return wrong("temperature", temperature, "a number from 0")
  if (!(topP > 0 && topP <= 1)) return wrong("topP", topP, "a number above 0 and up to 1")
  if (!(Number.isInteger(topK) && topK >= 1)) return wrong("topK", topK, "an integer from 1")
  return Effect.void
}

const refuse = (reason: string) => Effect.fail(new EngineError({ operation: "sample", reason }))
