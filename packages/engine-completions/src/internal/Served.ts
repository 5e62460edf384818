import { EngineError, type Tokenizer } from "@inspo/engine"
import { type Duration, Effect, Equal, type Redacted, Result, Schema } from "effect"
import { HttpClient } from "effect/http"
import * as Wire from "../Wire.ts"
import * as Connection from "./Connection.ts"
import type { Dialect } from "./Dialect.ts"
import { llamaCpp } from "./LlamaCpp.ts"
import * as Questions from "./Questions.ts"
import { sglang } from "./Sglang.ts"
import { vllm } from "./Vllm.ts"

/** Where the server is, and what it is where it does not say. */
export interface ServedOptions {
  /** Base URL of the server, before `/v1`. */
  readonly url: string
  /** Text and tokens of the model. */
  readonly tokenizer: Tokenizer
  /** The model to sample; the first that the server has when absent. */
  readonly model?: string | null | undefined
  /** Sent as `Authorization: Bearer …`. */
  readonly apiKey?: Redacted.Redacted | null | undefined
  /** Whether `/v1/completions` is asked, SGLang's `/generate`, or llama.cpp's `/completion`; as the server says when absent. */
  readonly dialect?: "auto" | Dialect["name"] | undefined
  /** Tokens of prompt and response together; as the server says when absent. */
  readonly contextLength?: number | null | undefined
  /** Requests in flight at once; as many as the server says, or else 256, when absent. */
  readonly concurrency?: number | null | undefined
  /** How long the server may be out of reach or too busy; 5 minutes when absent. */
  readonly retryBudget?: Duration.Input | undefined
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

/** A model that a server offers, how it is asked, and what the server said of it. */
export interface Served {
  readonly model: string
  readonly dialect: Dialect
  readonly contextLength: number
  readonly concurrency: number
  /** Whether it gives log-probabilities of a prompt. */
  readonly scores: boolean
  /** As patient as the options say. */
  readonly connection: Connection.Connection
  /** Turns a failed request into a failure of the engine. */
  readonly fail: (operation: EngineError["operation"]) => (error: Connection.AskError | EngineError) => EngineError
}

/** Asks a server what it offers, and tries it with a prompt of a few tokens. */
export const make = Effect.fnUntraced(function* (
  options: ServedOptions
): Effect.fn.Return<Served, EngineError, HttpClient.HttpClient> {
  const { tokenizer } = options
  // Many name the base of OpenAI's clients, which has the version in it.
  const url = options.url.replace(/\/v1\/*$/u, "")
  const client = yield* HttpClient.HttpClient
  const connect = (retryBudget: Duration.Input) =>
    Connection.make(client, {
      url,
      apiKey: options.apiKey ?? null,
      retryBudget,
      answerWithin: options.answerWithin ?? "10 minutes"
    })
  const names: OptionNames = { model: "model", contextLength: "contextLength", apiKey: "apiKey", ...options.names }
  const fail: Served["fail"] = (operation) => (error) => {
    if (error._tag === "EngineError") return error
    const remedy =
      error.status === 401 || error.status === 403
        ? `; give the server's key with ${names.apiKey}`
        : error.status === 404
          ? "; expected a server of /v1/completions with token ids, such as vLLM, SGLang or llama.cpp; a chat model cannot be the " +
            "policy, but `inspo serve` evolves the instruction of an agent that uses one"
          : ""
    return new EngineError({ operation, reason: `${url}: ${error.message}${remedy}`, cause: error })
  }

  const probing = connect("5 seconds")
  return yield* Effect.gen(function* () {
    const served = yield* choose(probing, options, names)
    const { id: model } = served
    const named = options.dialect ?? "auto"
    const dialect = dialectOf(named === "auto" ? served.owned_by : named, tokenizer)
    const props = dialect.name === "llama.cpp" ? yield* probing.get("/props", readProps) : undefined
    const contextLength = options.contextLength ?? served.max_model_len ?? props?.default_generation_settings.n_ctx
    if (contextLength === undefined)
      return yield* unusable(`${url} does not state the context length of ${model}; set ${names.contextLength}`)
    const questions = Questions.make(probing, { dialect, model, tokenizer })
    const scores = yield* tryOut(probing, questions, dialect, options)
    return {
      model,
      dialect,
      contextLength,
      concurrency: options.concurrency ?? props?.total_slots ?? 256,
      scores,
      connection: connect(options.retryBudget ?? "5 minutes"),
      fail
    }
  }).pipe(Effect.mapError(fail("start")))
})

/** The model that is meant, out of those that the server offers. */
const choose = Effect.fnUntraced(function* (
  connection: Connection.Connection,
  options: ServedOptions,
  names: OptionNames
) {
  const { data: models } = yield* connection.get("/v1/models", readModels)
  const wanted = options.model ?? null
  const served = models.find(({ id }) => wanted === null || id === wanted)
  if (served !== undefined) return served
  return yield* unusable(
    `${names.model} is ${JSON.stringify(wanted)}, which ${options.url} does not serve; expected ` +
      (models.length === 0 ? "a server with a model" : `one of ${models.map(({ id }) => id).join(", ")}`)
  )
})

/** Samples a token, after the tokenizer was compared where that can be; true where prompts are scored too. */
const tryOut = Effect.fnUntraced(function* (
  connection: Connection.Connection,
  questions: Questions.Questions,
  { scoring, tokenizing }: Dialect,
  { tokenizer, url }: ServedOptions
) {
  const trial = tokenizer.prompt([{ role: "user", content: "Hello" }])
  if (tokenizing !== undefined) {
    const text = `${tokenizer.decode(trial)}Wörld, 12345\n\tit's 日本 🙂`
    const { body, path } = tokenizing.ask(text)
    const theirs = yield* connection.post(path, body, tokenizing.read)
    const ours = tokenizer.encode(text)
    if (!Equal.equals(theirs, ours))
      return yield* unusable(
        `${url} makes the tokens ${theirs.join(" ")} of ${JSON.stringify(text)}, expected ${ours.join(" ")}: ` +
          "engine.tokenizer is not the tokenizer of its model"
      )
  }
  const request = { prompt: trial, n: 1, stop: [], maxTokens: 1, temperature: 1, topP: 1, seed: "trial" }
  yield* questions.sample(request, 1, request.seed)
  if (scoring === null) return false
  // Servers that give no log-probabilities of a prompt refuse the question, or leave them out of the answer.
  return yield* Effect.match(questions.score(scoring, { prompt: trial.slice(0, 1), response: trial.slice(1) }), {
    onSuccess: () => true,
    onFailure: () => false
  })
})

const unusable = (reason: string) => new EngineError({ operation: "start", reason })

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
  return vllm
}
