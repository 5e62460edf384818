/** Which settings decide what a run finds, and which say where and how its work is done. */
import { Equal, Predicate } from "effect"
import type { RunConfig } from "./Config.ts"

/**
 * What a setting is part of:
 *
 * - `algorithm`: it decides results, and stays as it was when the run began
 * - `environment`: it decides no results, or a fingerprint of the run guards what it names; it may change on the way
 * - `address`: of the environment, too; what it names may move, but neither appear nor vanish
 */
export type Part = "algorithm" | "environment" | "address"

/** A part for every setting, or for a whole section of them. */
export type Parts<Section> = {
  readonly [Key in keyof Section]: [Section[Key]] extends [ReadonlyArray<unknown> | string | number | boolean | null]
    ? Part
    : Part | Parts<Section[Key]>
}

/** The part of every setting of a run. */
export const parts = {
  seed: "algorithm",
  data: {
    // The fingerprint of the data guards what the files hold.
    questions: "address",
    corpus: "address",
    weights: "algorithm",
    world: "algorithm"
  },
  instruction: "algorithm",
  population: "algorithm",
  sampler: "algorithm",
  halving: "algorithm",
  schedule: "algorithm",
  buffer: "algorithm",
  proposer: "algorithm",
  optimizer: {
    provider: "algorithm",
    model: "algorithm",
    url: "address",
    maxOutputTokens: "algorithm",
    prompt: "algorithm"
  },
  verification: "algorithm",
  rollout: {
    groupSize: "algorithm",
    agent: "algorithm",
    tools: "algorithm",
    maxTurns: "algorithm",
    maxResponseTokens: "algorithm",
    maxObservationTokens: "algorithm",
    maxPromptTokens: "algorithm",
    texts: "algorithm",
    scoredTurns: "algorithm"
  },
  retrieval: { topK: "algorithm", url: "address" },
  reward: {
    kind: "algorithm",
    criteria: "algorithm",
    command: "algorithm"
  },
  judge: {
    provider: "algorithm",
    model: "algorithm",
    url: "address"
  },
  requests: "environment",
  train: "algorithm",
  evaluation: {
    baseline: "environment",
    questions: "algorithm",
    every: "algorithm",
    select: "algorithm",
    instruction: "algorithm"
  },
  checkpoint: "algorithm",
  engine: {
    // The fingerprint of the engine guards the model and what serves it.
    model: "environment",
    workers: "environment",
    url: "address",
    profile: "environment",
    tokenizer: "address",
    date: "algorithm",
    contextLength: "algorithm",
    loraRank: "algorithm",
    concurrency: "environment"
  },
  journal: { url: "address", run: "environment" },
  keys: "environment",
  budget: "environment",
  control: "algorithm"
} satisfies Parts<RunConfig>

/** The part of a setting by its dotted name; what has none decides results. */
export const partOf = (name: string): Part => {
  let node: unknown = parts
  for (const key of name.split(".")) if (Predicate.hasProperty(node, key)) node = node[key]
  return isPart(node) ? node : "algorithm"
}

/** A setting that may not differ within one run and does; a value is undefined where there is no such setting. */
export interface Difference {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

/**
 * The settings by which `after` asks for another run than `before`. None: a run that began with one may go on with the
 * other.
 */
export const differences = (before: RunConfig, after: RunConfig): ReadonlyArray<Difference> =>
  compare(before, after, [])

/** A difference in words: the setting, what it is and what it was. */
export const told = ({ after, before, field }: Difference): string =>
  `${field} is ${written(after)}, but was ${written(before)} when the run began`

const written = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "missing"
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
}

/** Characters of a value that are shown, so that an instruction does not bury the name of its setting. */
const longest = 60

const compare = (before: unknown, after: unknown, path: ReadonlyArray<string>): ReadonlyArray<Difference> => {
  if (isSection(before) && isSection(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      compare(before[key], after[key], [...path, key])
    )
  const field = path.join(".")
  return mayDiffer(partOf(field), before, after) ? [] : [{ field, before, after }]
}

const mayDiffer = (part: Part, before: unknown, after: unknown): boolean =>
  part === "environment" ||
  Equal.equals(before, after) ||
  (part === "address" && (before === null) === (after === null))

const isPart = (node: unknown): node is Part => node === "algorithm" || node === "environment" || node === "address"

const isSection = (node: unknown): node is Readonly<Record<string, unknown>> =>
  Predicate.isObjectKeyword(node) && !Array.isArray(node)
