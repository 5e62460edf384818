import { createHash } from "node:crypto"
import {
  Engine,
  EngineError,
  type SampledSequence,
  type SampleRequest,
  type Sequence,
  type Tokenizer
} from "@inspo/engine"
import { type Duration, Effect, Equal, Layer, type Redacted, Result, Schema, Semaphore } from "effect"
import { HttpClient } from "effect/http"
import * as Connection from "./internal/Connection.ts"
import type { Arrived, Dialect } from "./internal/Dialect.ts"
import { fill } from "./internal/Fill.ts"
import { llamaCpp } from "./internal/LlamaCpp.ts"
import { sglang } from "./internal/Sglang.ts"
import { vllm } from "./internal/Vllm.ts"
import * as Wire from "./Wire.ts"

export interface CompletionsEngineOptions {
  /** Base URL of the server, before `/v1`. */
  readonly url: string
  /** Text and tokens of the model. */
  readonly tokenizer: Tokenizer
  /** The model to sample; the first that the server has when absent. */
  readonly model?: string | null | undefined
  /** Sent as `Authorization: Bearer …`. */
  readonly apiKey?: Redacted.Redacted | null | undefined
  /** Whether `/v1/completions` is asked, SGLang's `/generate`, or llama.cpp's `/completion`; told by the server when absent. */
  readonly dialect?: "auto" | Dialect["name"] | undefined
  /** Tokens of prompt and response together; as the server says when absent. */
  readonly contextLength?: number | null | undefined
  /** Requests in flight at once; as many as the server says, or else 256, when absent. */
  readonly concurrency?: number | null | undefined
  /** How long the server may be out of reach or too busy; 5 minutes when absent. */
  readonly patience?: Duration.Input | undefined
  /** How long one answer may take; 10 minutes when absent. */
  readonly answerWithin?: Duration.Input | undefined
  /** What these options are called where a user sets them, for messages; as here when absent. */
  readonly names?: Partial<OptionNames> | undefined
}

/** Options of which messages speak. */
export interface OptionNames {
  readonly model: string
  readonly contextLength: string
  readonly apiKey: string
}

/**
 * A frozen policy behind a server that samples and does not train: vLLM, SGLang, llama.cpp's `llama-server`, or another
 * one whose `/v1/completions` takes a prompt of token ids and gives token ids with log-probabilities.
 *
 * Its profile says `trains: false`: `train` fails, `save` refers to the policy that is served, and `restore` takes that
 * reference alone. The policy is its own reference; it is scored where the server gives log-probabilities of a prompt.
 * What the server can do is asked with a prompt of a few tokens at the start, and every answer is checked: token ids of the
 * vocabulary, log-probabilities that can be such, their number. The key is never part of an error or a log.
 */
export const layer = (options: CompletionsEngineOptions): Layer.Layer<Engine, EngineError, HttpClient.HttpClient> =>
  Layer.effect(Engine, make(options))

const make = Effect.fn("CompletionsEngine.make")(function* (
  options: CompletionsEngineOptions
): Effect.fn.Return<Engine.Interface, EngineError, HttpClient.HttpClient> {
  const { tokenizer, url } = options
  const client = yield* HttpClient.HttpClient
  const connect = (patience: Duration.Input) =>
    Connection.make(client, {
      url,
      apiKey: options.apiKey ?? null,
      patience,
      answerWithin: options.answerWithin ?? "10 minutes"
    })
  const names: OptionNames = { model: "model", contextLength: "contextLength", apiKey: "apiKey", ...options.names }
  const fail = (operation: EngineError["operation"]) => (error: Connection.AskError | EngineError) => {
    if (error._tag === "EngineError") return error
    const remedy = error.status === 401 || error.status === 403 ? `; give the server's key with ${names.apiKey}` : ""
    return new EngineError({ operation, reason: `${url}: ${error.message}${remedy}`, cause: error })
  }

  const probing = connect("5 seconds")
  const { data: models } = yield* Effect.mapError(probing.get("/v1/models", readModels), fail("start"))
  const wanted = options.model ?? null
  const served = models.find(({ id }) => wanted === null || id === wanted)
  if (served === undefined)
    return yield* new EngineError({
      operation: "start",
      reason:
        `${names.model} is ${JSON.stringify(wanted)}, which ${url} does not serve; expected ` +
        (models.length === 0 ? "a server with a model" : `one of ${models.map(({ id }) => id).join(", ")}`)
    })
  const model = served.id
  const facts = served.inspo ?? undefined
  const named = options.dialect ?? "auto"
  const dialect = dialectOf(named === "auto" ? served.owned_by : named, tokenizer)
  const props =
    dialect.name === "llama.cpp" ? yield* Effect.mapError(probing.get("/props", readProps), fail("start")) : undefined
  const contextLength =
    options.contextLength ?? served.max_model_len ?? props?.default_generation_settings.n_ctx ?? undefined
  if (contextLength === undefined)
    return yield* new EngineError({
      operation: "start",
      reason: `${url} does not tell the context length of ${model}; set ${names.contextLength}`
    })
  const sampleBy = (connection: Connection.Connection, request: SampleRequest, n: number, seed: string) => {
    const asked = { ...request, n, seed: numericSeed(seed) }
    const { body, path } = dialect.sample(model, asked)
    const headers = facts === undefined ? {} : { [Wire.seedHeader]: encodeURIComponent(seed) }
    const expected = { n, most: request.maxTokens, vocabulary: tokenizer.vocabularySize }
    return connection
      .post(path, body, headers, (answer) =>
        Result.flatMap(dialect.readSamples(answer, asked), (sequences) => checked(sequences, expected)).pipe(
          Result.mapError((reason) => `request ${seed}: ${reason}`)
        )
      )
      .pipe(Effect.flatMap(Effect.forEach((sequence) => fill(connection, dialect, request.prompt, sequence))))
  }
  const scoreBy = (
    connection: Connection.Connection,
    scoring: NonNullable<Dialect["scoring"]>,
    sequence: Sequence
  ): Effect.Effect<ReadonlyArray<number>, Connection.AskError> => {
    const { body, path } = scoring.ask(model, sequence)
    return Effect.map(
      connection.post(path, body, {}, (answer) => scoring.read(answer, sequence)),
      (scores) => scores.slice(scores.length - sequence.response.length)
    )
  }

  const trial = tokenizer.prompt([{ role: "user", content: "Hello" }])
  if (dialect.tokenizing !== undefined) {
    const { ask, read } = dialect.tokenizing
    const text = `${tokenizer.decode(trial)}Wörld, 12345\n\tit's 日本 🙂`
    const { body, path } = ask(text)
    const theirs = yield* Effect.mapError(probing.post(path, body, {}, read), fail("start"))
    const ours = tokenizer.encode(text)
    if (!Equal.equals(theirs, ours))
      return yield* new EngineError({
        operation: "start",
        reason:
          `${url} makes the tokens ${theirs.join(" ")} of ${JSON.stringify(text)}, expected ${ours.join(" ")}: ` +
          "engine.tokenizer is not the tokenizer of its model"
      })
  }
  yield* Effect.mapError(
    sampleBy(
      probing,
      { prompt: trial, n: 1, stop: [], maxTokens: 1, temperature: 1, topP: 1, seed: "trial" },
      1,
      "trial"
    ),
    fail("start")
  )
  // Servers that give no log-probabilities of a prompt refuse the question, or leave them out of the answer.
  const scores =
    dialect.scoring !== null &&
    (yield* Effect.match(scoreBy(probing, dialect.scoring, { prompt: trial.slice(0, 1), response: trial.slice(1) }), {
      onSuccess: () => true,
      onFailure: () => false
    }))

  const connection = connect(options.patience ?? "5 minutes")
  const concurrency = options.concurrency ?? facts?.concurrency ?? props?.total_slots ?? 256
  const permits = yield* Semaphore.make(concurrency)

  const sampleOne = (request: SampleRequest) => {
    const room = Math.min(request.maxTokens, contextLength - request.prompt.length)
    if (room <= 0) return Effect.succeed({ sequences: Array.from({ length: request.n }, () => unsampled) })
    const bounded = { ...request, maxTokens: room }
    const one = (n: number, seed: string) => permits.withPermit(sampleBy(connection, bounded, n, seed))
    return dialect.several || request.n === 1
      ? Effect.map(one(request.n, request.seed), (sequences) => ({ sequences }))
      : Effect.map(
          Effect.forEach(Array.from({ length: request.n }).keys(), (index) => one(1, `${request.seed}/${index}`), {
            concurrency: "unbounded"
          }),
          (parts) => ({ sequences: parts.flat() })
        )
  }

  const frozen = { uri: `frozen:${model}`, hash: facts?.fingerprint ?? "" }

  const engine: Engine.Interface = {
    profile: {
      name: `completions/${facts === undefined ? dialect.name : "inspo"}`,
      model,
      parameters: facts?.parameters ?? 0,
      contextLength,
      concurrency,
      streams: 16,
      topK: facts === undefined || facts.top_k === true,
      stopTexts: facts?.single_token_stops === true ? "single-token" : "any",
      trains: false,
      klInLoss: false,
      scoresReference: scores,
      removesCheckpoints: false,
      deterministic: facts?.deterministic ?? false,
      fingerprint: facts?.fingerprint ?? `${dialect.name}:${model}`
    },
    tokenizer,

    sample: Effect.fn("CompletionsEngine.sample")(
      function* (requests) {
        const empty = requests.findIndex(({ prompt }) => prompt.length === 0)
        if (empty >= 0)
          return yield* new EngineError({
            operation: "sample",
            reason: `requests[${empty}].prompt.length is 0, expected at least 1`
          })
        return yield* Effect.forEach(requests, sampleOne, { concurrency: "unbounded" })
      },
      Effect.mapError(fail("sample"))
    ),

    train: () =>
      Effect.fail(
        new EngineError({
          operation: "train",
          reason: `${url} samples and does not train; evolve instructions alone, or name a server of the Tinker protocol`
        })
      ),

    score: Effect.fn("CompletionsEngine.score")(
      function* (_, sequences) {
        const { scoring } = dialect
        if (!scores || scoring === null)
          return yield* new EngineError({
            operation: "score",
            reason: `${url} gives no log-probabilities of a prompt, which a KL term needs`
          })
        return yield* Effect.forEach(
          sequences,
          (sequence) =>
            sequence.response.length === 0
              ? Effect.succeed([])
              : permits.withPermit(scoreBy(connection, scoring, sequence)),
          { concurrency: "unbounded" }
        )
      },
      Effect.mapError(fail("score"))
    ),

    save: () => Effect.succeed(frozen),

    restore: ({ uri }) =>
      uri === frozen.uri
        ? Effect.void
        : Effect.fail(
            new EngineError({
              operation: "restore",
              reason: `the checkpoint is ${uri}, expected ${frozen.uri}: ${url} serves one policy and loads no other`
            })
          ),

    remove: () => Effect.void
  }
  return engine
})

/** What a request gets that has no room for a token. */
const unsampled: SampledSequence = { tokens: [], logprobs: [], stopReason: "length" }

/** The servers' seeds are numbers; 31 bits are what all take. */
const numericSeed = (seed: string): number => createHash("sha256").update(seed).digest().readUInt32LE() >>> 1

const decodeModels = Schema.decodeUnknownResult(Wire.Models)
const readModels: Connection.Read<Wire.Models> = (answer) =>
  Result.mapError(decodeModels(answer), ({ message }) => message)

const decodeProps = Schema.decodeUnknownResult(Wire.LlamaProps)
const readProps: Connection.Read<Wire.LlamaProps> = (answer) =>
  Result.mapError(decodeProps(answer), ({ message }) => message)

/** What calls itself neither SGLang nor llama.cpp is taken for vLLM, whose way of asking is the common one. */
const dialectOf = (name: string | null | undefined, tokenizer: Tokenizer): Dialect => {
  if (name === "sglang") return sglang
  if (name === "llamacpp" || name === "llama.cpp") return llamaCpp(tokenizer)
  // Some take 0 for none at all; ours knows those of sampled tokens alone.
  return vllm(name === "inspo" ? 0 : 1)
}

const checked = (
  sequences: ReadonlyArray<Arrived>,
  { most, n, vocabulary }: { readonly n: number; readonly most: number; readonly vocabulary: number }
): Result.Result<ReadonlyArray<Arrived>, string> => {
  if (sequences.length !== n) return Result.fail(`${sequences.length} sequences, expected ${n}`)
  for (const [index, { tokens }] of sequences.entries()) {
    if (tokens.length > most)
      return Result.fail(`sequence ${index} has ${tokens.length} tokens, expected at most ${most}`)
    const at = tokens.findIndex((token) => token < 0 || token >= vocabulary)
    if (at >= 0)
      return Result.fail(
        `token ${at} of sequence ${index} is ${tokens[at]}, expected 0 to ${vocabulary - 1}, the ids of the tokenizer`
      )
  }
  return Result.succeed(sequences)
}
