import type { EngineProfile } from "@inspo/engine"
import { Schema } from "effect"

/** The servers whose differences are known, and `auto` to ask the server. */
export const ProfileName = Schema.Literals(["auto", "inspo", "tinker", "skyrl-jax", "skyrl-train", "verl"])
export type ProfileName = typeof ProfileName.Type

/**
 * How a server reduces the losses of tokens to one: `sum` adds them up; `sequence-mean` takes the mean over the masked
 * tokens of each datum, then over all datums since the last optimizer step.
 */
type Reduction = "sum" | "sequence-mean"

/** In what a server differs from others. */
export interface Profile {
  readonly name: Exclude<ProfileName, "auto">
  readonly reduction: Reduction
  /** The loss input that says which tokens count, null where advantages do. With `shares` it carries each token's share of the loss. */
  readonly mask: { readonly name: string; readonly values: "bits" | "shares" } | null
  /** Stops as texts, or as ids of tokens, the end of sequence included because the server does not stop there by itself. */
  readonly stop: "texts" | "tokens"
  /** The same request of a model sent twice counts once, so that it may be sent again when its answer was lost. */
  readonly deduplicates: boolean
  /** Executes the requests of a model in the order of their numbers, so that a step can be sent before its gradient is done. */
  readonly pipelines: boolean
  /** Takes and gives protobuf for samples and gradients. */
  readonly protobuf: boolean
  /** Where log-probabilities of the base model come from: an untrained model, a sampler of the base model, or nowhere. */
  readonly reference: "model" | "sampler" | "none"
  /** `save_weights` can be undone. */
  readonly removes: boolean
  /** `unload_model` frees a model that is no longer used. */
  readonly unloads: boolean
  /** Takes the engine's seeds, which are texts, as they are, beside the numbers made from them. */
  readonly textSeeds: boolean
  /** Answers `asample` with the samples themselves where they are there soon and `Prefer: wait` asks for it. */
  readonly samplesAtOnce: boolean
  /** How it says that it has no room for one more model; null where it does not. */
  readonly full: RegExp | null
  /** LoRA adapters are trained, or all parameters. */
  readonly lora: boolean
  /** What of AdamW it does not take from a request. */
  readonly fixedOptimizer: NonNullable<EngineProfile["fixedOptimizer"]>
}

/** `inspo engine serve`. */
export const inspo: Profile = {
  name: "inspo",
  reduction: "sum",
  mask: { name: "weights", values: "shares" },
  stop: "texts",
  deduplicates: true,
  pipelines: true,
  protobuf: true,
  reference: "model",
  removes: true,
  unloads: true,
  textSeeds: true,
  samplesAtOnce: true,
  full: null,
  lora: false,
  fixedOptimizer: []
}

/** Hosted Tinker. */
export const tinker: Profile = {
  ...inspo,
  name: "tinker",
  mask: null,
  reference: "sampler",
  textSeeds: false,
  samplesAtOnce: false,
  lora: true
}

/** SkyRL's own JAX backend: LoRA only. */
const skyrlJax: Profile = {
  ...tinker,
  name: "skyrl-jax",
  reduction: "sequence-mean",
  mask: { name: "weights", values: "bits" },
  stop: "tokens",
  pipelines: false,
  removes: false,
  full: /maximum number of lora adapters/iu,
  fixedOptimizer: ["gradientClip"]
}

/** SkyRL's FSDP and Megatron backends with vLLM on Ray. */
const skyrlTrain: Profile = {
  ...skyrlJax,
  name: "skyrl-train",
  reduction: "sum",
  stop: "texts",
  reference: "none",
  full: /already has a 'policy' model/iu,
  fixedOptimizer: ["beta1", "gradientClip"]
}

/** verl-tinker: one client, one model, all parameters, JSON only; a gradient whose answer was lost cannot be sent again. */
export const verl: Profile = {
  ...skyrlTrain,
  name: "verl",
  mask: { name: "mask", values: "bits" },
  deduplicates: false,
  protobuf: false,
  unloads: false,
  full: null,
  lora: false,
  fixedOptimizer: ["gradientClip"]
}

/** All profiles by the name that `profile` takes. */
export const byName: Readonly<Record<Profile["name"], Profile>> = {
  inspo,
  tinker,
  "skyrl-jax": skyrlJax,
  "skyrl-train": skyrlTrain,
  verl
}
