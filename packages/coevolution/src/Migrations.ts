import { Predicate } from "effect"

/**
 * Config keys that came after the first runs, each with the value under which a run behaves as it did before the key
 * existed. A run directory written without them stays readable: its config and its `RunStarted` are completed with these.
 *
 * Add a row with every new key of `RunConfig`. Make new fields of an event `Schema.optionalKey`.
 */
export const laterKeys: ReadonlyArray<LaterKey> = [
  { path: ["population", "parentChoice"], value: "weight" },
  { path: ["population", "archive"], value: 0 },
  { path: ["proposer", "crossover"], value: 0 },
  { path: ["proposer", "maxSimilarity"], value: null },
  { path: ["verification", "stop"], value: null },
  { path: ["verification", "lookEvery"], value: 10 },
  { path: ["verification", "race"], value: false },
  { path: ["verification", "reuse"], value: false },
  { path: ["train", "demonstrations"], value: null },
  { path: ["evaluation", "baseline"], value: true },
  { path: ["evaluation", "instruction"], value: "best" },
  { path: ["engine", "protocol"], value: "tinker" },
  { path: ["engine", "date"], value: null },
  {
    path: ["optimizer"],
    value: {
      provider: "offline",
      model: null,
      url: null,
      apiKeyEnv: null,
      temperature: 1,
      maxOutputTokens: 16_384,
      maxEvidenceTokens: 16_384,
      timeoutSeconds: 300,
      retries: 4,
      prices: [],
      prompts: { reflection: null, history: null, paraphrase: null }
    }
  },
  { path: ["reward", "criteria"], value: null },
  {
    path: ["judge"],
    value: {
      provider: null,
      model: null,
      url: null,
      apiKeyEnv: null,
      temperature: 0,
      maxOutputTokens: 1024,
      timeoutSeconds: 60,
      retries: 4,
      concurrency: 8
    }
  },
  { path: ["judge", "prices"], value: [] },
  { path: ["budget"], value: { usd: null, rollouts: null, tokens: null, minutes: null } },
  { path: ["journal"], value: { url: null, passwordEnv: null, run: null, leaseSeconds: 30 } }
]

export interface LaterKey {
  readonly path: ReadonlyArray<string>
  readonly value: unknown
}

/** Values that have another name today. */
export const renamedValues: ReadonlyArray<RenamedValue> = [
  { path: ["proposer", "kind"], from: "rules", to: "reflection" }
]

export interface RenamedValue {
  readonly path: ReadonlyArray<string>
  readonly from: string
  readonly to: string
}

/** A stored config as it would be written today. Anything but a config comes back as it is. */
export const completeConfig = (stored: unknown): unknown => {
  const named = renamedValues.reduce(
    (config, { from, path, to }) => change(config, path, (value) => (value === from ? to : value)),
    stored
  )
  return laterKeys.reduce(
    (config, { path, value }) => change(config, path, (known) => (known === undefined ? value : known)),
    named
  )
}

/** A stored event as it would be written today. */
export const completeEvent = (stored: unknown): unknown =>
  Predicate.hasProperty(stored, "config") && Predicate.hasProperty(stored, "_tag") && stored._tag === "RunStarted"
    ? { ...stored, config: completeConfig(stored.config) }
    : stored

/** Changes the value at a path; one that cannot be there stays away. */
const change = (node: unknown, [key, ...rest]: ReadonlyArray<string>, update: (value: unknown) => unknown): unknown => {
  if (key === undefined) return update(node)
  if (!isMapping(node)) return node
  const changed = change(node[key], rest, update)
  return changed === undefined ? node : { ...node, [key]: changed }
}

const isMapping = (node: unknown): node is Readonly<Record<string, unknown>> =>
  Predicate.isObjectKeyword(node) && !Array.isArray(node)
