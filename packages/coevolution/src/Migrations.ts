import { Equal, Predicate, Result } from "effect"
import { ConfigError } from "./ConfigError.ts"

/**
 * Settings of an algorithm that came after the first runs, each with the value under which a run behaves as it did before
 * the setting existed. A run written without them stays readable: its config and its `RunStarted` are completed with these.
 *
 * Add a row with every new key of `Algorithm`. Make new fields of an event `Schema.optionalKey`.
 */
export const laterKeys: ReadonlyArray<LaterKey> = [
  { path: ["verification", "stop"], value: null },
  { path: ["verification", "lookEvery"], value: 10 },
  { path: ["verification", "reuse"], value: false },
  { path: ["train", "demonstrations"], value: null },
  { path: ["evaluation", "instruction"], value: "best" },
  { path: ["engine", "date"], value: null },
  {
    path: ["optimizer"],
    value: {
      provider: "offline",
      model: null,
      maxOutputTokens: 16_384,
      prompt: null
    }
  },
  { path: ["reward", "criteria"], value: null },
  {
    path: ["judge"],
    value: {
      provider: null,
      model: null
    }
  },
  { path: ["optimizer", "prompt"], value: null },
  { path: ["control", "clauses"], value: null },
  { path: ["schedule", "policyFirst"], value: null },
  { path: ["data", "mix"], value: null },
  { path: ["rollout", "texts", "role"], value: "user" },
  { path: ["rollout", "temperature"], value: 1 },
  { path: ["proposer", "commonAnswers"], value: 1 },
  { path: ["proposer", "parent"], value: "in-turn" }
]

export interface LaterKey {
  readonly path: ReadonlyArray<string>
  readonly value: unknown
}

/** Values that have another name today. */
export const renamedValues: ReadonlyArray<RenamedValue> = [
  { path: ["proposer", "kind"], from: "rules", to: "reflection" },
  { path: ["halving", "rule"], from: "paper", to: "bottom-half" },
  { path: ["halving", "rule"], from: "robust", to: "spare-unseen" },
  { path: ["halving", "rule"], from: "certain", to: "confident" },
  { path: ["population", "average"], from: "window", to: "draws" },
  { path: ["population", "average"], from: "observed", to: "steps" }
]

export interface RenamedValue {
  readonly path: ReadonlyArray<string>
  readonly from: string
  readonly to: string
}

/** What settings of earlier versions said, in the settings that say it now; those themselves go as removed ones. */
const moves: ReadonlyArray<(config: unknown) => unknown> = [
  (config) => {
    const shares = valueAt(config, "data.weights")
    return isMapping(shares) && Object.values(shares).every(Predicate.isNumber)
      ? put(config, ["data", "mix"], shares)
      : config
  },
  (config) => {
    const { invalidAction, passageSeparator, passageTemplate, promptTemplate } = mappingAt(config, "rollout")
    const texts = { prompt: promptTemplate, passage: passageTemplate, separator: passageSeparator, invalidAction }
    return Object.values(texts).every(Predicate.isString) ? put(config, ["rollout", "texts"], texts) : config
  },
  (config) => {
    const file = mappingAt(config, "optimizer.prompts")[String(valueAt(config, "proposer.kind"))]
    return file === undefined ? config : put(config, ["optimizer", "prompt"], file)
  },
  (config) => {
    const prices = ["optimizer.prices", "judge.prices"].flatMap((name) => {
      const known = valueAt(config, name)
      return Array.isArray(known) ? known : []
    })
    return prices.length === 0 ? config : put(config, ["budget", "prices"], prices)
  },
  (config) => {
    const { evolveFrom } = mappingAt(config, "schedule")
    const { untilStep } = mappingAt(config, "train")
    return typeof untilStep === "number" && evolveFrom === untilStep && valueAt(config, "population.initial") === 1
      ? put(config, ["schedule", "policyFirst"], untilStep)
      : config
  },
  (config) =>
    valueAt(config, "halving.minimumGroups") === 0 && rulesThatSpare.has(String(valueAt(config, "halving.rule")))
      ? put(config, ["halving", "rule"], "bottom-half")
      : config,
  (config) => {
    const { instructionRole } = mappingAt(config, "rollout")
    return instructionRole !== "user" && instructionRole !== "system"
      ? config
      : put(config, ["rollout", "texts", "role"], instructionRole)
  },
  (config) =>
    valueAt(config, "rollout.mode") === "searchr1" ? put(config, ["rollout", "agent"], "search-r1-exact") : config,
  (config) => {
    const named = Object.entries(formerKeys).map(([name, path]) => [name, valueAt(config, path)] as const)
    return named.every(([, variable]) => variable === undefined)
      ? config
      : put(
          config,
          ["keys"],
          Object.fromEntries(named.map(([name, variable]) => [name, variable === undefined ? null : variable]))
        )
  },
  (config) =>
    valueAt(config, "engine.protocol") === "completions" ? put(config, ["engine", "profile"], "completions") : config,
  (config) => {
    const { baseModel, model, tokenizer, url } = mappingAt(config, "engine")
    if (baseModel === undefined || typeof url !== "string") return config
    return put(put(config, ["engine", "model"], baseModel), ["engine", "tokenizer"], tokenizer ?? model)
  },
  (config) => {
    const train = valueAt(config, "data.world.counts.train")
    return Predicate.isNumber(train) ? put(config, ["data", "world", "questions"], train) : config
  },
  (config) => {
    const { evolveUntil, evolveUntilInclusive } = mappingAt(config, "schedule")
    return evolveUntilInclusive === false && Predicate.isNumber(evolveUntil)
      ? put(config, ["schedule", "evolveUntil"], Math.max(0, evolveUntil - 1))
      : config
  }
]

/** What the rule that spares the unseen is, and was, called. */
const rulesThatSpare = new Set(["spare-unseen", "robust"])

/** The settings that named the variables of `keys`. */
const formerKeys = {
  engine: "engine.apiKeyEnv",
  optimizer: "optimizer.apiKeyEnv",
  judge: "judge.apiKeyEnv",
  retrieval: "retrieval.apiKeyEnv",
  journal: "journal.passwordEnv"
}

/** What Search-R1 gives for the format alone. */
const searchR1Scores = { structure: 0.2, retrieval: 0, final: 0.1 }

/** Settings that are no more. */
export const removedKeys: ReadonlyArray<RemovedKey> = [
  { path: "data.weights", now: "data.mix holds the shares of the data sources" },
  // The fingerprint of the data guards what the world holds.
  { path: "data.world.sizes", now: "every world has 120 people, 40 towns, 40 companies and 20 rivers" },
  { path: "data.world.counts", now: "data.world.questions says how many there are to train on" },
  { path: "data.validationShare", now: "a tenth is held out for validation; `inspo data split` takes other shares" },
  { path: "data.testShare", now: "a fifth is held out for the test; `inspo data split` takes other shares" },
  { path: "data.world.mix", now: "every world has the same shares of the kinds of question" },
  { path: "population.archive", values: [0], now: "instructions that left are not tried again" },
  {
    path: "population.span",
    unless: (config) =>
      ["window", "draws"].includes(String(valueAt(config, "population.average"))) ===
      (valueAt(config, "population.span") === "draws"),
    now: "population.average says both what is summed and what divides it"
  },
  {
    path: "population.unseen",
    unless: (config) =>
      ["window", "draws"].includes(String(valueAt(config, "population.average"))) ===
      (valueAt(config, "population.unseen") === "zero"),
    now: "population.average says it, too"
  },
  {
    path: "population.initial",
    unless: (config) => {
      const { initial, size } = mappingAt(config, "population")
      return initial === null || initial === size || (initial === 1 && isPolicyFirst(config))
    },
    now: "a run begins with population.size instructions, or with one where schedule.policyFirst is set"
  },
  {
    path: "schedule.evolveFrom",
    unless: (config) => {
      const { evolveEvery, evolveFrom } = mappingAt(config, "schedule")
      return Number(evolveFrom) <= Math.max(1, Number(evolveEvery)) || isPolicyFirst(config)
    },
    now: "a run evolves from the first step, or after schedule.policyFirst"
  },
  {
    path: "train.untilStep",
    unless: (config) => valueAt(config, "train.untilStep") === null || isPolicyFirst(config),
    now: "schedule.policyFirst ends the training, and instructions evolve after it"
  },
  {
    path: "halving.minimumGroups",
    unless: (config) =>
      valueAt(config, "halving.minimumGroups") === 4 || !rulesThatSpare.has(String(valueAt(config, "halving.rule"))),
    now: "spare-unseen spares what was seen in fewer than four groups"
  },
  {
    path: "halving.delta",
    unless: (config) =>
      valueAt(config, "halving.delta") === 0.05 ||
      !["confident", "certain"].includes(String(valueAt(config, "halving.rule"))),
    now: "confident drops the best of a population with a probability of at most 0.05"
  },
  { path: "rollout.maxFailedShare", now: "a tenth of the rollouts asked for at once may fail" },
  { path: "journal.leaseSeconds", now: "another may take over after 30 seconds" },
  { path: "journal.run", values: [null], now: "a run in a database is known by the name of its directory" },
  {
    path: "population.best",
    unless: (config) =>
      (valueAt(config, "population.best") === "evidence") === (valueAt(config, "population.ties") === "evidence"),
    now: "population.ties says it for the best instruction, too"
  },
  { path: "population.parentChoice", values: ["weight"], now: "parents are the highest by weight" },
  { path: "proposer.crossover", values: [0], now: "the proposer alone writes candidates" },
  { path: "proposer.failures", values: [4], now: "a proposer is shown four failures" },
  { path: "proposer.maxSimilarity", values: [null], now: "only candidates with a known text are refused" },
  { path: "halving.floor", values: [1], now: "population.parents is the smallest population to prune to" },
  { path: "schedule.evolveUntilInclusive", now: "schedule.evolveUntil is the last step that may evolve" },
  {
    path: "verification.race",
    unless: (config) =>
      valueAt(config, "verification.race") === (typeof valueAt(config, "verification.stop") === "number"),
    now: "candidates race for the places wherever verification.stop is set"
  },
  { path: "optimizer.temperature", values: [1, null], now: "the temperature is the provider's own" },
  { path: "judge.temperature", values: [0], now: "it is 0" },
  { path: "judge.maxOutputTokens", values: [1024], now: "it is 1024" },
  { path: "optimizer.maxEvidenceTokens", now: "failures and history take at most 16,384 tokens of a prompt" },
  ...["optimizer", "judge", "retrieval"].flatMap((section) => [
    { path: `${section}.timeoutSeconds`, now: "requests.timeoutSeconds holds for every server" },
    { path: `${section}.retries`, now: "requests.retries holds for every server" }
  ]),
  ...["optimizer", "judge"].map((section) => ({
    path: `${section}.prices`,
    now: "budget.prices holds the prices of all models"
  })),
  { path: "optimizer.prompts", now: "optimizer.prompt names the file for the proposer.kind in use" },
  { path: "judge.concurrency", now: "eight answers are judged at once" },
  { path: "retrieval.batchSize", now: "a request holds up to 256 queries" },
  { path: "retrieval.concurrency", now: "four requests are in flight at once" },
  { path: "retrieval.cacheSize", now: "the answers to 10,000 queries are remembered" },
  { path: "reward.format", values: [searchR1Scores], now: "reward.kind em-format scores as Search-R1 does" },
  { path: "reward.commandTimeout", now: "requests.timeoutSeconds holds for the program too" },
  {
    path: "rollout.maxStartTokens",
    values: [2048],
    now: "the agent search-r1-exact trains on the last 2048 tokens of a prompt"
  },
  {
    path: "rollout.topP",
    values: [1],
    now: "tokens are drawn from the whole distribution, which the policy update assumes"
  },
  { path: "rollout.toolAttempts", now: "a tool is asked twice before an episode fails" },
  {
    path: "rollout.toolTimeoutSeconds",
    now: "a tool may take 300 seconds, or requests.timeoutSeconds where that is more"
  },
  { path: "rollout.promptTemplate", now: "rollout.texts.prompt holds it" },
  { path: "rollout.passageTemplate", now: "rollout.texts.passage holds it" },
  { path: "rollout.passageSeparator", now: "rollout.texts.separator holds it" },
  { path: "rollout.invalidAction", now: "rollout.texts.invalidAction holds it" },
  { path: "train.schedule", values: ["cosine"], now: "half a cosine follows the warm-up" },
  { path: "train.warmupRatio", values: [0.1], now: "the learning rate rises over the first tenth of the steps" },
  { path: "train.beta1", values: [0.9], now: "it is 0.9" },
  { path: "train.gradientClip", values: [1], now: "it is 1" },
  { path: "train.epochs", values: [1], now: "a step goes once through its mini-batches" },
  {
    path: "train.normalization",
    values: ["sequence-mean"],
    now: "the loss takes the mean of each sequence, as Eq. 2 does"
  },
  { path: "evaluation.validation", values: [100], now: "a validation asks up to 100 questions" },
  { path: "evaluation.collapse", values: [0.5], now: "the training reward collapses below half of its best" },
  ...Object.entries(formerKeys).map(([name, path]) => ({ path, now: `keys.${name} names the variable` })),
  { path: "engine.baseModel", now: "engine.model names it where engine.url is set" },
  { path: "engine.protocol", now: "engine.profile says it: completions, or a server of the Tinker protocol" },
  { path: "rollout.mode", now: "rollout.agent search-r1-exact is what the mode searchr1 was" },
  { path: "rollout.instructionRole", now: "rollout.texts.role says it" },
  {
    path: "reward.scope",
    unless: (config) =>
      valueAt(config, "reward.scope") ===
      (valueAt(config, "rollout.mode") === "searchr1" && valueAt(config, "reward.kind") !== "command"
        ? "searchr1"
        : "response"),
    now: "answers are looked for in the response, or as Search-R1 does with rollout.agent search-r1-exact"
  },
  { path: "engine.workers", now: "engine.concurrency says it where engine.url is null; results do not depend on it" },
  { path: "engine.encoding", now: "samples and gradients travel as protobuf where the server takes it" }
]

export interface RemovedKey {
  /** Its dotted name, or that of a whole section. */
  readonly path: string
  /** What holds in its place. */
  readonly now: string
  /** The values under which a run behaves as it does now; missing where it decided no results, so that any will do. */
  readonly values?: ReadonlyArray<unknown>
  /** Whether a run behaves as it does now by what other settings say; in place of {@link values}. */
  readonly unless?: (config: unknown) => boolean
}

/** A removed setting by its dotted name, or the section that it was in. */
export const removed = (name: string): RemovedKey | undefined =>
  removedKeys.find(({ path }) => path === name || name.startsWith(`${path}.`))

/**
 * A stored config as it would be written today; anything but a config comes back as it is. Fails on a removed setting whose
 * value decided results that today's would not be.
 */
export const completeConfig = (stored: unknown): Result.Result<unknown, ConfigError> => {
  const moved = moves.reduce((config, move) => move(config), stored)
  const refused = removedKeys.find(({ path, unless, values }) => {
    const value = valueAt(moved, path)
    if (value === undefined) return false
    return (values !== undefined && !values.some((kept) => Equal.equals(kept, value))) || unless?.(moved) === false
  })
  if (refused !== undefined)
    return Result.fail(
      new ConfigError({
        field: refused.path,
        value: JSON.stringify(valueAt(moved, refused.path)),
        expected:
          (refused.values?.map((kept) => JSON.stringify(kept)).join(" or ") ?? "what holds now") +
          `, because now ${refused.now}`,
        remedy:
          "Look at the run and go on with it in the version that wrote it, or begin it again without this setting."
      })
    )
  const named = renamedValues.reduce(
    (config, { from, path, to }) => change(config, path, (value) => (value === from ? to : value)),
    removedKeys.reduce<unknown>((config, { path }) => without(config, path.split(".")), moved)
  )
  return Result.succeed(
    laterKeys.reduce(
      (config, { path, value }) => change(config, path, (known) => (known === undefined ? value : known)),
      named
    )
  )
}

/**
 * A stored event as it would be written today: its algorithm is completed, and where its version was another one that says
 * all that was decided, it says it in the form of today.
 */
export const completeEvent = (stored: unknown): Result.Result<unknown, ConfigError> => {
  if (!isMapping(stored) || stored._tag !== "RunStarted") return Result.succeed(stored)
  const today = isUpgradable("RunStarted", versionOf(stored)) ? withAlgorithm(stored) : stored
  return Result.map(completeConfig(today.algorithm), (algorithm) => ({ ...today, algorithm }))
}

/** Whether {@link completeEvent} makes an event of today of one of this former version. */
export const isUpgradable = (type: string, version: unknown): boolean => type === "RunStarted" && version === 2

/** The version of a stored event; those that name none are of the first. */
export const versionOf = (stored: unknown): unknown => (Predicate.hasProperty(stored, "version") ? stored.version : 1)

/** The config of version 2 held what decides results and what does not; decoding leaves the first. */
const withAlgorithm = ({ config, ...stored }: Mapping): Mapping => ({
  ...stored,
  algorithm: config,
  search: typeof valueAt(config, "retrieval.url") === "string" ? "server" : "passages"
})

const isPolicyFirst = (config: unknown): boolean => typeof valueAt(config, "schedule.policyFirst") === "number"

const valueAt = (node: unknown, path: string): unknown =>
  path.split(".").reduce((inner, key) => (isMapping(inner) ? inner[key] : undefined), node)

const mappingAt = (node: unknown, path: string): Mapping => {
  const found = valueAt(node, path)
  return isMapping(found) ? found : {}
}

/** A config with a value at a path of mappings; anything else as it is. */
const put = (node: unknown, [key, ...rest]: ReadonlyArray<string>, value: unknown): unknown =>
  key === undefined ? value : isMapping(node) ? { ...node, [key]: put(node[key] ?? {}, rest, value) } : node

/** A config without the key at a path, and without the sections that are empty then. */
const without = (node: unknown, [key, ...rest]: ReadonlyArray<string>): unknown => {
  if (!isMapping(node) || key === undefined || !Object.hasOwn(node, key)) return node
  const { [key]: inner, ...others } = node
  if (rest.length === 0) return others
  const left = without(inner, rest)
  return isMapping(left) && Object.keys(left).length === 0 ? others : { ...node, [key]: left }
}

/** Changes the value at a path; one that cannot be there stays away. */
const change = (node: unknown, [key, ...rest]: ReadonlyArray<string>, update: (value: unknown) => unknown): unknown => {
  if (key === undefined) return update(node)
  if (!isMapping(node)) return node
  const changed = change(node[key], rest, update)
  return changed === undefined ? node : { ...node, [key]: changed }
}

type Mapping = Readonly<Record<string, unknown>>

const isMapping = (node: unknown): node is Mapping => Predicate.isObjectKeyword(node) && !Array.isArray(node)
