/** What the servers take and answer, as far as it is used; fields that are not named here are ignored. */
import { list, maybe } from "@inspo/engine/Wire"
import { Schema } from "effect"

const isToken = (value: unknown): value is number => Number.isSafeInteger(value)
const isText = (value: unknown): value is string => typeof value === "string"
const isLogprob = (value: unknown): value is number | null => value === null || typeof value === "number"

const Tokens = list("a list of tokens", isToken)
const Logprobs = list("a list of numbers", isLogprob)

/** A model of `GET /v1/models`. */
export const Model = Schema.Struct({
  id: Schema.NonEmptyString,
  owned_by: maybe(Schema.String),
  max_model_len: maybe(Schema.Int)
})

/** `GET /v1/models`. */
export const Models = Schema.Struct({ data: Schema.Array(Model) })
export interface Models extends Schema.Schema.Type<typeof Models> {}

/** How tokens are drawn, as vLLM and SGLang call it. */
const drawing = {
  temperature: Schema.Finite,
  top_p: Schema.Finite,
  top_k: Schema.Int,
  min_p: Schema.Finite,
  repetition_penalty: Schema.Finite,
  presence_penalty: Schema.Finite,
  frequency_penalty: Schema.Finite
}

/** `POST /v1/completions`: OpenAI's fields, and those that vLLM adds. */
export const CompletionRequest = Schema.Struct({
  model: Schema.String,
  prompt: Tokens,
  n: Schema.Int,
  max_tokens: Schema.Int,
  ...drawing,
  seed: maybe(Schema.Int),
  stop: maybe(Schema.Array(Schema.String)),
  skip_special_tokens: maybe(Schema.Boolean),
  logprobs: maybe(Schema.Int),
  prompt_logprobs: maybe(Schema.Int),
  return_token_ids: maybe(Schema.Boolean),
  return_tokens_as_token_ids: maybe(Schema.Boolean)
})
export interface CompletionRequest extends Schema.Schema.Type<typeof CompletionRequest> {}

/** Log-probabilities of what may be at one place of the prompt, by token id; null for the first place. */
const PromptLogprobs = Schema.Array(
  Schema.NullOr(Schema.Record(Schema.String, Schema.Struct({ logprob: Schema.Finite })))
)

/** `logprobs.tokens` are texts, or `token_id:N` where that was asked for. */
export const CompletionChoice = Schema.Struct({
  index: Schema.Int,
  finish_reason: maybe(Schema.String),
  token_ids: maybe(Tokens),
  logprobs: maybe(
    Schema.Struct({
      tokens: maybe(list("a list of texts", isText)),
      token_logprobs: maybe(Logprobs)
    })
  ),
  prompt_logprobs: maybe(PromptLogprobs)
})

export const CompletionResponse = Schema.Struct({ choices: Schema.Array(CompletionChoice) })

/** `POST /generate` of SGLang. */
export const GenerateRequest = Schema.Struct({
  input_ids: Tokens,
  sampling_params: Schema.Struct({
    max_new_tokens: Schema.Int,
    ...drawing,
    stop: Schema.Array(Schema.String),
    no_stop_trim: Schema.Boolean,
    skip_special_tokens: Schema.Boolean,
    sampling_seed: Schema.Int
  }),
  return_logprob: Schema.Boolean,
  logprob_start_len: maybe(Schema.Int)
})
export interface GenerateRequest extends Schema.Schema.Type<typeof GenerateRequest> {}

/** `[log-probability, token, text]` for each token; the first of a prompt has no log-probability. */
const TokenLogprobs = Schema.Array(
  Schema.TupleWithRest(Schema.Tuple([Schema.NullOr(Schema.Finite), Schema.Int]), [Schema.Unknown])
)

export const GenerateResponse = Schema.Struct({
  meta_info: Schema.Struct({
    finish_reason: Schema.NullOr(Schema.Struct({ type: Schema.String })),
    output_token_logprobs: maybe(TokenLogprobs),
    input_token_logprobs: maybe(TokenLogprobs)
  })
})
export interface GenerateResponse extends Schema.Schema.Type<typeof GenerateResponse> {}

/** `GET /props` of llama.cpp's server. */
export const LlamaProps = Schema.Struct({
  total_slots: Schema.Int,
  default_generation_settings: Schema.Struct({ n_ctx: Schema.Int })
})
export interface LlamaProps extends Schema.Schema.Type<typeof LlamaProps> {}

const LlamaLogprob = Schema.Struct({ id: Schema.Int, logprob: Schema.Finite })

/** `POST /completion` of llama.cpp's server; `completion_probabilities` are of some of the `tokens`, in order, or of none. */
export const LlamaCompletion = Schema.Struct({
  tokens: Tokens,
  stop_type: Schema.Literals(["none", "eos", "limit", "word"]),
  completion_probabilities: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ ...LlamaLogprob.fields, top_logprobs: Schema.optionalKey(Schema.Array(LlamaLogprob)) })
    )
  )
})
export interface LlamaCompletion extends Schema.Schema.Type<typeof LlamaCompletion> {}

/** `POST /tokenize` of llama.cpp's server. */
export const LlamaTokens = Schema.Struct({ tokens: Tokens })
