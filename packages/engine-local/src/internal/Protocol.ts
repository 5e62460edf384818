import { createHash } from "node:crypto"
import type { Program } from "../graph/Program.ts"
import type { ModelConfig, Parameter } from "../model/ModelConfig.ts"

/** The key-value cache of one row: `heads` of `headWidth` per position, in each layer. */
export interface CacheShape {
  readonly layers: number
  readonly heads: number
  readonly headWidth: number
  readonly context: number
  /** What the mask holds on empty slots. */
  readonly maskedScore: number
}

/**
 * What every worker is started with; plain values, so that a worker need not load what computes them. The buffers are shared: workers read policies and write lanes. */
export interface WorkerData {
  readonly config: ModelConfig
  readonly layout: ReadonlyArray<Parameter>
  /** One flat parameter array per policy. */
  readonly policies: Readonly<Record<PolicyName, SharedArrayBuffer>>
  /** One flat gradient array per lane; a lane is written by one worker at a time. */
  readonly lanes: ReadonlyArray<SharedArrayBuffer>
  readonly cache: CacheShape
  /** What `readsShared` runs. */
  readonly probe: SharedProgram
  readonly decode: SharedProgram
  readonly prefill: SharedProgram
  /** Tokens that the prefill program takes per row. */
  readonly block: number
  /** Sequences that one worker decodes at once. */
  readonly rows: number
}

/** `sampled` is what samples are drawn from: the current policy, or an earlier one that is held. */
export type PolicyName = "current" | "reference" | "sampled"

/** A program whose bytes workers share; `key` identifies them, so that each worker creates one session for them. */
export interface SharedProgram extends Omit<Program, "bytes"> {
  readonly key: string
  readonly bytes: SharedArrayBuffer
}

export const shareProgram = ({ bytes, ...program }: Program): SharedProgram => {
  const shared = new SharedArrayBuffer(bytes.length)
  new Uint8Array(shared).set(bytes)
  return { ...program, key: createHash("sha256").update(bytes).digest("base64"), bytes: shared }
}

/** A copy that threads can share. */
export const shareArray = (values: Float32Array): SharedArrayBuffer => {
  const buffer = new SharedArrayBuffer(values.byteLength)
  new Float32Array(buffer).set(values)
  return buffer
}

export type Values = Float32Array | BigInt64Array

/** One run of a program: its inputs by name, without the parameters. */
export interface Batch {
  readonly program: SharedProgram
  readonly inputs: Readonly<Record<string, Values>>
}

/** Runs batches in order. With a `lane`, the sum of their gradients is left there. The reply holds the outputs asked for, per batch. */
export interface EvaluateRequest {
  readonly policy: PolicyName
  readonly batches: ReadonlyArray<Batch>
  readonly lane: number | null
  readonly outputs: ReadonlyArray<string>
}

export type EvaluateReply = ReadonlyArray<Readonly<Record<string, Float32Array>>>

/**
 * One prompt with its samples. `draws` holds `maxTokens` uniform draws per sample; `cached`, where given, the first
 * `cached.length` tokens of the prompt with their keys and values.
 */
export interface DecodeRequest {
  readonly prompt: ReadonlyArray<number>
  readonly samples: number
  readonly maxTokens: number
  readonly stop: ReadonlyArray<number>
  readonly temperature: number
  readonly topP: number
  readonly topK: number | undefined
  readonly draws: Float64Array
  readonly cached: { readonly length: number; readonly keyValues: SharedArrayBuffer } | null
}

export interface DecodedSequence {
  readonly tokens: ReadonlyArray<number>
  readonly logprobs: ReadonlyArray<number>
  readonly stopped: boolean
  /** Keys and values of the prompt and all sampled tokens but the last. */
  readonly keyValues: SharedArrayBuffer
}

export type SampleReply = ReadonlyArray<ReadonlyArray<DecodedSequence>>

/** The operations of a worker. */
export interface Tasks {
  readonly evaluate: { readonly request: EvaluateRequest; readonly reply: EvaluateReply }
  readonly sample: { readonly request: ReadonlyArray<DecodeRequest>; readonly reply: SampleReply }
}

/** A worker answers each task with one reply, in order. */
export type TaskMessage = {
  [K in keyof Tasks]: { readonly task: K; readonly request: Tasks[K]["request"] }
}[keyof Tasks]

export type ReplyMessage<K extends keyof Tasks> = { readonly reply: Tasks[K]["reply"] } | { readonly error: unknown }
