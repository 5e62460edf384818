import { Context, Effect, Schema, type Scope } from "effect"
import type { Tokenizer } from "./Tokenizer.ts"

/** The trainer and sampler of the policy, on tokens. */
export class Engine extends Context.Service<Engine, Engine.Interface>()("@inspo/engine/Engine") {}

export declare namespace Engine {
  export interface Interface {
    readonly profile: EngineProfile
    readonly tokenizer: Tokenizer
    /**
     * Samples continuations; one result per request, each holding `n` sequences, in request order. A sequence depends
     * only on weights, prompt, seed and parameters: never on the other requests of the call or on the worker count.
     */
    readonly sample: (requests: ReadonlyArray<SampleRequest>) => Effect.Effect<ReadonlyArray<SampleResult>, EngineError>
    /** One optimizer step on one mini-batch. A step that is not finite is refused and leaves the policy unchanged. */
    readonly train: (request: TrainRequest) => Effect.Effect<TrainMetrics, EngineError>
    /** Log-probabilities of response tokens under the current policy or under the frozen reference policy. */
    readonly score: (
      policy: "current" | "reference",
      sequences: ReadonlyArray<Sequence>
    ) => Effect.Effect<ReadonlyArray<ReadonlyArray<number>>, EngineError>
    /** Writes weights and optimizer state under `name`, atomically; returns a reference that `restore` accepts. */
    readonly save: (name: string) => Effect.Effect<CheckpointRef, EngineError>
    /** Loads weights and optimizer state, or with `optimizer: "fresh"` the weights alone; the reference policy stays the initial one. */
    readonly restore: (checkpoint: CheckpointRef, options?: RestoreOptions) => Effect.Effect<void, EngineError>
    /** Removes a checkpoint; a missing one is not an error. */
    readonly remove: (checkpoint: CheckpointRef) => Effect.Effect<void, EngineError>
    /**
     * Until the scope closes, `sample` uses the weights of now, also while `train` changes them and after it; `score` and `save`
     * use the changed ones. Not for nested use. Absent in an engine that cannot, which cannot sample one step while it trains
     * another.
     */
    readonly hold?: Effect.Effect<void, EngineError, Scope.Scope>
    /**
     * Names the weights of now for the `sampler` of requests, so that another process can sample from them at the same server.
     * Absent in an engine that no other process reaches.
     */
    readonly sampler?: Effect.Effect<string, EngineError>
    /** Whether `train` gives recorded answers, as in a replay, so that no loss needs a `score` before it. */
    readonly isRecorded?: boolean
  }
}

/** What an engine is and can do. `contextLength` counts prompt and response together, in tokens. */
export const EngineProfile = Schema.Struct({
  name: Schema.NonEmptyString,
  model: Schema.NonEmptyString,
  parameters: Schema.Int,
  contextLength: Schema.Int,
  /** How many sequences to have in flight at once. */
  concurrency: Schema.Int,
  /** How many calls of `sample` to have open at once: while one waits for tools, others keep the engine busy. By default one. */
  lanes: Schema.optionalKey(Schema.Int),
  /** The stop texts that `sample` takes: by default any, or single tokens only. */
  stopTexts: Schema.optionalKey(Schema.Literals(["any", "single-token"])),
  /** Whether `train` and `restore` can change the policy; by default they can. An engine that only samples sets this to false. */
  trains: Schema.optionalKey(Schema.Boolean),
  /** Whether the policy is a chat model, whose calls are paid one by one and which has no token ids; by default it is not. */
  chat: Schema.optionalKey(Schema.Boolean),
  /** Whether `sample` takes `topK`; by default it does not. */
  topK: Schema.optionalKey(Schema.Boolean),
  /** Whether `train` takes a KL term in its loss; by default it does. */
  klInLoss: Schema.optionalKey(Schema.Boolean),
  /** Whether `train` takes `clipHigh`; by default it does not. */
  clipHigh: Schema.optionalKey(Schema.Boolean),
  /** The AdamW settings that `train` cannot set, because the server has its own value; by default none. */
  fixedOptimizer: Schema.optionalKey(Schema.Array(Schema.Literals(["beta1", "gradientClip"]))),
  /** Whether `score` supports the reference policy; by default it does. */
  scoresReference: Schema.optionalKey(Schema.Boolean),
  /** Whether removing a checkpoint deletes it; by default it does. */
  removesCheckpoints: Schema.optionalKey(Schema.Boolean),
  /** Equal inputs give equal bits on this machine type. */
  deterministic: Schema.Boolean,
  /** Hash of the initial weights and the tokenizer, if known. */
  fingerprint: Schema.String
})
export interface EngineProfile extends Schema.Schema.Type<typeof EngineProfile> {}

/**
 * `n` sequences after `prompt`. `stop` are texts that end a sequence and are part of it; the end-of-sequence token always
 * ends it and is part of it too. `temperature` 0 is greedy. Equal `seed`s give equal sequences; the `i`-th of `n`
 * sequences draws from its own stream.
 */
export interface SampleRequest {
  readonly prompt: ReadonlyArray<number>
  readonly n: number
  readonly stop: ReadonlyArray<string>
  readonly maxTokens: number
  readonly temperature: number
  readonly topP: number
  /** Only this many of the likeliest tokens can be drawn; by default all. For engines whose profile has `topK`. */
  readonly topK?: number
  readonly seed: string
  /** The weights that the engine of another process has named; by default those of now. */
  readonly sampler?: string
}

export interface SampleResult {
  readonly sequences: ReadonlyArray<SampledSequence>
}

/** Sampled tokens with their log-probabilities under the policy at temperature 1: the distribution that is trained. */
export interface SampledSequence {
  readonly tokens: ReadonlyArray<number>
  readonly logprobs: ReadonlyArray<number>
  readonly stopReason: "stop" | "length"
}

/** What a request gets that has no room for a token. */
export const unsampled = (n: number): SampleResult => ({
  sequences: Array.from({ length: n }, () => ({ tokens: [], logprobs: [], stopReason: "length" }))
})

export interface Sequence {
  readonly prompt: ReadonlyArray<number>
  readonly response: ReadonlyArray<number>
}

/**
 * One sequence of a training batch. `logprobs` (at sampling time), `advantages` and `weights` are parallel to `response`.
 * `weights` is 0 on observation tokens and elsewhere the token's share of the loss, so that the loss is the plain sum
 * over tokens of weight × (clipped surrogate + β · KL), whatever the normalisation.
 */
export interface Datum extends Sequence {
  readonly logprobs: ReadonlyArray<number>
  readonly advantages: ReadonlyArray<number>
  readonly weights: ReadonlyArray<number>
}

/**
 * `key` identifies the request across retries; `klCoefficient` 0 leaves the reference policy out.
 */
export interface TrainRequest {
  readonly key: string
  readonly datums: ReadonlyArray<Datum>
  readonly loss: {
    readonly clipRatio: number
    /** The upper bound, where it is another one: for engines whose profile has `clipHigh`. */
    readonly clipHigh?: number
    readonly klCoefficient: number
  }
  readonly optimizer: {
    readonly learningRate: number
    readonly beta1: number
    readonly beta2: number
    readonly weightDecay: number
    /** Largest global gradient norm; larger gradients are scaled down to it. */
    readonly gradientClip: number
    /** Added to the denominator of Adam's step; by default the engine's own. */
    readonly epsilon?: number
  }
}

/** `optimizer` "fresh" resets it; "saved", the default, loads its state too. */
export interface RestoreOptions {
  readonly optimizer?: "saved" | "fresh"
}

/** `kl` is the weighted mean of the k3 estimate, `clipFraction` the share of action tokens whose ratio was clipped. */
export const TrainMetrics = Schema.Struct({
  loss: Schema.Finite,
  kl: Schema.Finite,
  clipFraction: Schema.Finite,
  gradientNorm: Schema.Finite,
  tokens: Schema.Int
})
export interface TrainMetrics extends Schema.Schema.Type<typeof TrainMetrics> {}

/** A saved policy: its reference and, if the engine knows it, the hash of its weights. */
export const CheckpointRef = Schema.Struct({ uri: Schema.NonEmptyString, hash: Schema.String })
export interface CheckpointRef extends Schema.Schema.Type<typeof CheckpointRef> {}

/**
 * The engine refused a request or failed. `kind` is for cases that a caller must distinguish: `not-finite` is an update that
 * was refused because its numbers are not finite. `reason` is the cause as text, the only detail from a foreign server.
 */
export class EngineError extends Schema.TaggedError<EngineError>()("EngineError", {
  operation: Schema.Literals(["start", "sample", "train", "score", "save", "restore", "remove"]),
  kind: Schema.optionalKey(Schema.Literal("not-finite")),
  reason: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `engine ${this.operation}: ${this.reason}`
  }
}

/** The checkpoints of an engine whose policy never changes: the only one is the policy itself. */
export const frozenPolicy = (
  model: string,
  hash: string,
  whyOnly: string
): Pick<Engine.Interface, "save" | "restore" | "remove"> => {
  const frozen = { uri: `frozen:${model}`, hash }
  return {
    save: () => Effect.succeed(frozen),
    restore: ({ uri }) =>
      uri === frozen.uri
        ? Effect.void
        : Effect.fail(
            new EngineError({
              operation: "restore",
              reason: `the checkpoint is ${uri}, expected ${frozen.uri}${whyOnly}`
            })
          ),
    remove: () => Effect.void
  }
}

/** An update was refused because its numbers are not finite. */
export const notFinite = (detail: string): EngineError =>
  new EngineError({ operation: "train", kind: "not-finite", reason: `${notFiniteWords}${detail}` })

/** How the reason of a `not-finite` error begins: the Tinker protocol carries an error as text alone. */
export const notFiniteWords = "the update is not finite"
