import { EngineFacts, list, maybe } from "@inspo/engine/Wire"
import { Duration, Predicate, Schema } from "effect"
import type { Headers } from "effect/http"

export const Integers = list("a list of integers", (value): value is number => Number.isSafeInteger(value))
export const Numbers = list("a list of numbers", Predicate.isNumber)

/** Servers may report what is not a finite number. */
const isNumber = (value: unknown): value is number => Predicate.isNumber(value)
const Metrics = Schema.Record(Schema.String, Schema.declare(isNumber, { expected: "a number" }))

const Metadata = maybe(Schema.Record(Schema.String, Schema.Unknown))
const Labels = maybe(Schema.Record(Schema.String, Schema.String))

/** A field whose only value that this server can honour is the one that changes nothing. */
const neutral = <const A extends string | number | boolean>(value: A) => maybe(Schema.Literal(value))

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

export const EncodedText = Schema.Struct({ type: Schema.Literal("encoded_text"), tokens: Integers })

/** Text alone: no engine of ours takes images. */
export const ModelInput = Schema.Struct({ chunks: Schema.Array(EncodedText) })
export interface ModelInput extends Schema.Schema.Type<typeof ModelInput> {}

export const TensorData = Schema.Struct({
  data: Numbers,
  dtype: Schema.Literals(["int64", "float32"]),
  shape: maybe(Integers),
  sparse_crow_indices: maybe(Integers),
  sparse_col_indices: maybe(Integers)
})
export interface TensorData extends Schema.Schema.Type<typeof TensorData> {}

/** `loss_fn_inputs` are parallel to the tokens of `model_input`; token i of it predicts `target_tokens[i]`. */
export const Datum = Schema.Struct({
  model_input: ModelInput,
  loss_fn_inputs: Schema.Record(Schema.String, TensorData)
})
export interface Datum extends Schema.Schema.Type<typeof Datum> {}

export const LossName = Schema.Literals(["cross_entropy", "importance_sampling", "ppo", "cispo", "dro"])
export type LossName = typeof LossName.Type

export const LossInput = Schema.Struct({
  data: Schema.Array(Datum),
  loss_fn: LossName,
  loss_fn_config: maybe(Schema.Record(Schema.String, Schema.Finite))
})
export interface LossInput extends Schema.Schema.Type<typeof LossInput> {}

/** All parameters are trained here, so that none can be left out; the seed of adapters has nothing to decide. */
export const LoraConfig = Schema.Struct({
  rank: Count,
  seed: maybe(Schema.Int),
  train_unembed: neutral(true),
  train_mlp: neutral(true),
  train_attn: neutral(true)
})

const OptimizerConfig = maybe(Schema.Struct({ type: neutral("adamw") }))

const NotNegative = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
const Decay = NotNegative.check(Schema.isLessThan(1))

export const AdamParams = Schema.Struct({
  learning_rate: maybe(NotNegative),
  beta1: maybe(Decay),
  beta2: maybe(Decay),
  eps: maybe(NotNegative),
  weight_decay: maybe(NotNegative),
  /** 0 for none. */
  grad_clip_norm: maybe(Schema.Finite)
})
export interface AdamParams extends Schema.Schema.Type<typeof AdamParams> {}

/** `top_k` -1 keeps all tokens. An empty `stop` asks to continue after the end of sequence, where none stops there. */
export const SamplingParams = Schema.Struct({
  max_tokens: maybe(Count),
  seed: maybe(Schema.Int),
  stop: maybe(Schema.Union([Schema.String, Schema.Array(Schema.String), Integers])),
  temperature: maybe(NotNegative),
  top_k: maybe(Schema.Int),
  top_p: maybe(Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(1)))
})
export interface SamplingParams extends Schema.Schema.Type<typeof SamplingParams> {}

export const ClientConfigRequest = Schema.Struct({ sdk_version: maybe(Schema.String) })

/** Flags a server sets for its clients; there are more, which concern the public SDK alone. */
export const ClientConfig = Schema.Struct({
  proto_compress_fwdbwd: maybe(Schema.Boolean),
  fwdbwd_max_chunk_len: maybe(Schema.Int),
  fwdbwd_max_chunk_bytes_count: maybe(Schema.Int),
  sample_max_concurrent_requests: maybe(Schema.Int)
})
export interface ClientConfig extends Schema.Schema.Type<typeof ClientConfig> {}

export const SupportedModel = Schema.Struct({
  model_name: maybe(Schema.String),
  max_context_length: maybe(Schema.Int),
  trainable: maybe(Schema.Boolean),
  sampleable: maybe(Schema.Boolean),
  inspo: maybe(EngineFacts)
})

export const Capabilities = Schema.Struct({ supported_models: Schema.Array(SupportedModel) })
export interface Capabilities extends Schema.Schema.Type<typeof Capabilities> {}

export const Health = Schema.Struct({ status: Schema.String })

export const CreateSessionRequest = Schema.Struct({
  type: maybe(Schema.String),
  tags: Schema.Array(Schema.String),
  user_metadata: Metadata,
  sdk_version: Schema.String,
  project_id: maybe(Schema.String),
  display_name: maybe(Schema.String)
})

export const CreateSessionResponse = Schema.Struct({
  type: maybe(Schema.String),
  session_id: Schema.NonEmptyString,
  info_message: maybe(Schema.String),
  warning_message: maybe(Schema.String),
  error_message: maybe(Schema.String)
})

export const HeartbeatRequest = Schema.Struct({ type: maybe(Schema.String), session_id: Schema.String })

export const CreateModelRequest = Schema.Struct({
  type: maybe(Schema.String),
  session_id: Schema.String,
  model_seq_id: Schema.Int,
  base_model: Schema.String,
  user_metadata: Metadata,
  lora_config: maybe(LoraConfig),
  optimizer_config: OptimizerConfig
})

export const ModelIdResponse = Schema.Struct({ model_id: Schema.NonEmptyString })

export const ModelRequest = Schema.Struct({ type: maybe(Schema.String), model_id: Schema.String })

const Sequenced = { type: maybe(Schema.String), model_id: Schema.String, seq_id: maybe(Schema.Int) }

export const ForwardBackwardRequest = Schema.Struct({ ...Sequenced, forward_backward_input: LossInput })
export const ForwardRequest = Schema.Struct({ ...Sequenced, forward_input: LossInput })

/** `logprobs` of an output are those of the datum's targets under the weights before the update. */
export const ForwardBackwardOutput = Schema.Struct({
  loss_fn_output_type: Schema.String,
  loss_fn_outputs: Schema.Array(Schema.Record(Schema.String, TensorData)),
  metrics: Metrics
})
export interface ForwardBackwardOutput extends Schema.Schema.Type<typeof ForwardBackwardOutput> {}

export const OptimStepRequest = Schema.Struct({ ...Sequenced, adam_params: AdamParams })
export const OptimStepResponse = Schema.Struct({ metrics: maybe(Metrics) })

/** In seconds, a second to ten years. */
const Lifetime = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 315_360_000 }))

export const SaveWeightsRequest = Schema.Struct({
  ...Sequenced,
  path: maybe(Schema.String),
  ttl_seconds: maybe(Lifetime),
  overwrite: maybe(Schema.Boolean),
  user_metadata: Labels
})
/** `hash` is that of the weights, where the server reports it. */
export const PathResponse = Schema.Struct({ path: Schema.NonEmptyString, hash: maybe(Schema.String) })

/** Into the model `model_id`, or into a new one of the session `session_id`. */
export const LoadWeightsRequest = Schema.Struct({
  ...Sequenced,
  model_id: maybe(Schema.String),
  session_id: maybe(Schema.String),
  model_seq_id: maybe(Schema.Int),
  base_model: maybe(Schema.String),
  user_metadata: Metadata,
  path: Schema.String,
  optimizer: maybe(Schema.Boolean),
  optimizer_config: OptimizerConfig,
  weights_access_token: maybe(Schema.Never)
})
export const LoadWeightsResponse = Schema.Struct({ path: maybe(Schema.String), model_id: maybe(Schema.String) })

/** Named by `path`, or for one sampling session by `sampling_session_seq_id`. */
export const SaveWeightsForSamplerRequest = Schema.Struct({
  ...Sequenced,
  path: maybe(Schema.String),
  sampling_session_seq_id: maybe(Schema.Int),
  kind: neutral("snapshot"),
  ttl_seconds: maybe(Lifetime),
  user_metadata: Labels
})

export const CreateSamplingSessionRequest = Schema.Struct({
  type: maybe(Schema.String),
  session_id: Schema.String,
  sampling_session_seq_id: Schema.Int,
  base_model: maybe(Schema.String),
  model_path: maybe(Schema.String)
})
export const SamplingSessionResponse = Schema.Struct({ sampling_session_id: Schema.NonEmptyString })

export const SampleRequest = Schema.Struct({
  type: maybe(Schema.String),
  num_samples: maybe(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  prompt: ModelInput,
  sampling_params: SamplingParams,
  sampling_session_id: maybe(Schema.String),
  /** A text where a double could not hold it. */
  seq_id: maybe(Schema.Union([Schema.Int, Schema.String.check(Schema.isPattern(/^\d{16,19}$/u))])),
  base_model: maybe(Schema.String),
  model_path: maybe(Schema.String),
  prompt_logprobs: maybe(Schema.Boolean),
  /** The likeliest tokens at each position of the prompt: engines score the tokens that they are given alone. */
  topk_prompt_logprobs: neutral(0),
  topk_sample_logprobs: neutral(0),
  target_prompt_logprobs: maybe(Schema.Never),
  prompt_alt_tokens_k: neutral(0),
  prompt_logprobs_last_n: maybe(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  record_stability_info: neutral(false)
})
export interface SampleRequest extends Schema.Schema.Type<typeof SampleRequest> {}

export const SampledSequence = Schema.Struct({
  stop_reason: Schema.Literals(["stop", "length"]),
  tokens: Integers,
  logprobs: maybe(Numbers)
})

export const SampleResponse = Schema.Struct({
  sequences: Schema.Array(SampledSequence),
  prompt_logprobs: maybe(Schema.Array(Schema.NullOr(Schema.Finite)))
})
export interface SampleResponse extends Schema.Schema.Type<typeof SampleResponse> {}

export const Future = Schema.Struct({ request_id: Schema.NonEmptyString, model_id: maybe(Schema.String) })

export const RetrieveFutureRequest = Schema.Struct({
  request_id: Schema.NonEmptyString,
  allow_metadata_only: maybe(Schema.Boolean)
})

/** A future that is not done; `complete_metadata` is only sent to clients that ask for it. */
export const Pending = Schema.Union([
  Schema.Struct({ type: Schema.Literal("try_again") }),
  Schema.Struct({ status: Schema.Literal("complete_metadata") })
])

/** A future that failed. */
export const Failed = Schema.Struct({ error: Schema.String, category: maybe(Schema.String) })

export const CancelFutureRequest = Schema.Struct({ request_id: Schema.NonEmptyString })

/** `detail` and `reason` are for the client's own records. */
export const FinishSessionRequest = Schema.Struct({ reason: maybe(Schema.Unknown), detail: maybe(Schema.String) })

export const WeightsInfoRequest = Schema.Struct({ tinker_path: Schema.String })
/** How a server explains a status that is not 200. */
export const Detail = Schema.Struct({ detail: Schema.Unknown })

/** Asks for the result itself in place of a future, where it is there soon (RFC 7240). A server that does not know it answers with the future. */
export const preferSoon: Readonly<Record<string, string>> = { prefer: "wait=5" }

/** How long the result may be waited for before the answer is a future: not at all where that is not asked for. */
export const preferredWait = (headers: Headers.Headers): Duration.Duration =>
  Duration.seconds(Number(/(?:^|[\s,])wait=(\d{1,3})(?:$|[\s,;])/iu.exec(headers["prefer"] ?? "")?.[1] ?? 0))
