import { World, WorldQuestion } from "@inspo/datasets"
import type { EngineProfile } from "@inspo/engine"
import { TrainConfig as PolicyGradientConfig } from "@inspo/policy-gradient"
import { RewardConfig } from "@inspo/reward/RewardConfig"
import { builtInTools, RolloutConfig as EpisodeConfig } from "@inspo/rollout"
import { Schema, Struct } from "effect"

const PositiveInt = Schema.Int.check(Schema.isGreaterThan(0))
const NonNegativeInt = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const PositiveNumber = Schema.Finite.check(Schema.isGreaterThan(0))
const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

/** Where questions and passages come from: the generated world, or files of the user. */
export const DataConfig = Schema.Struct({
  /** Path of a question file (Search-R1 rows as Parquet or JSONL), or null for the generated world. */
  questions: Schema.NullOr(Schema.NonEmptyString),
  /** Path of the corpus (JSONL of `{id, contents}`) that goes with `questions`; null where `retrieval.url` searches it. */
  corpus: Schema.NullOr(Schema.NonEmptyString),
  /** Relative share of each data source among the training questions, or null to train on all of them. */
  weights: Schema.NullOr(Schema.Record(Schema.String, PositiveNumber)),
  /** Shares of a user's question file held out for validation and test. */
  validationShare: Share,
  testShare: Share,
  world: Schema.Struct({
    /** Seed of the generated world, or null to use the run's seed. */
    seed: Schema.NullOr(Schema.Int),
    sizes: World.Sizes,
    /** Relative frequency of each kind of question. */
    mix: WorldQuestion.Mix,
    counts: WorldQuestion.Counts
  })
})

export const InstructionConfig = Schema.Struct({
  /** Text of the instruction the run starts from, whose tags every other must keep. */
  seed: Schema.NonEmptyString,
  /** Further instructions of the first population; the proposer writes the rest of it (row 23). */
  seeds: Schema.Array(Schema.NonEmptyString)
})

export const PopulationConfig = Schema.Struct({
  /** N_P: how many instructions live after a refill. 1 without evolution is ordinary GRPO. */
  size: PositiveInt,
  /** How many instructions the run begins with, or null for `size`. */
  initial: Schema.NullOr(PositiveInt),
  /** N_parent: how many survive to become parents; pruning never goes below. */
  parents: PositiveInt,
  /** n of Eq. 6, in steps. */
  window: PositiveInt,
  /** What divides the sum of Eq. 6: n, or the steps observed (row 4). */
  average: Schema.Literals(["window", "observed"]),
  /** The window holds the instruction's own last n observations, or those of the last n steps (row 6). */
  span: Schema.Literals(["draws", "steps"]),
  /** Weight of a never-sampled instruction: 0, or the mean of the known weights (row 7). */
  unseen: Schema.Literals(["zero", "mean"]),
  /** Equal weights are ranked by order of entry, or by more groups and then age (row 19). */
  ties: Schema.Literals(["order", "evidence"]),
  /** I* while no weight is known: by weight all the same, or by lifetime and verification score (row 9). */
  best: Schema.Literals(["weight", "evidence"])
})

export const SamplerConfig = Schema.Struct({
  /** τ_s of Eq. 4. */
  temperature: PositiveNumber,
  /** Independent draws, or systematic sampling within each data source (row 18). */
  assignment: Schema.Literals(["independent", "stratified"]),
  /**
   * Instructions that just entered are drawn as others are, or guaranteed a group in their first step (row 7); with
   * `everyone` each instruction is guaranteed one in every step.
   */
  newcomers: Schema.Literals(["drawn", "guaranteed", "everyone"])
})

export const HalvingConfig = Schema.Struct({
  /**
   * `paper` drops the bottom half (row 2). Of that half, `robust` spares what was hardly seen, `certain` what is not known
   * to be worse.
   */
  rule: Schema.Literals(["paper", "robust", "certain"]),
  /** Prune and choose parents by the weights before this step's rewards, or after them (rows 3 and 28). */
  ranking: Schema.Literals(["before", "after"]),
  /** Groups an instruction must have been seen in before `robust` may prune it (row 7). */
  minimumGroups: NonNegativeInt,
  /** Probability that `certain` ever drops the best instruction of a population, over the whole run. */
  delta: Schema.Finite.check(
    Schema.isBetween({ minimum: 0, maximum: 1, exclusiveMinimum: true, exclusiveMaximum: true })
  ),
  /** Smallest population to prune to, where it is larger than `population.parents` (row 11). */
  floor: PositiveInt
})

export const ScheduleConfig = Schema.Struct({
  /** T: policy updates. */
  steps: PositiveInt,
  /** K_p: prune every so many steps; 0 never. */
  pruneEvery: NonNegativeInt,
  /** K_e: evolve every so many steps; 0 never. */
  evolveEvery: NonNegativeInt,
  /** First step that may evolve. */
  evolveFrom: NonNegativeInt,
  /** T_e: the step after which nothing evolves. */
  evolveUntil: NonNegativeInt,
  /** Whether step T_e itself may evolve (row 10). */
  evolveUntilInclusive: Schema.Boolean
})

export const BufferConfig = Schema.Struct({
  /** Whose failures a proposer sees: any of the latest step, or the parent's own (row 14). */
  failures: Schema.Literals(["any", "own"]),
  /** Steps an experience is remembered (row 15). */
  capacitySteps: PositiveInt,
  /** Experiences kept of one question, or null for all (row 15). */
  perQuestionCap: Schema.NullOr(PositiveInt)
})

export const ProposerConfig = Schema.Struct({
  /**
   * `rules`: the offline rule-based reflector. The controls write with the same clause bank: `random` looks at nothing,
   * `paraphrase` only at the parent, `history` at the scores of earlier instructions.
   */
  kind: Schema.Literals(["rules", "random", "paraphrase", "history"]),
  /** Failures shown per reflection. */
  failures: PositiveInt,
  /** Candidates per proposal. */
  candidates: PositiveInt,
  /** `parsed`: whatever has a text. `strict`: no lost tags, no duplicates, a length cap (row 21). */
  lint: Schema.Literals(["parsed", "strict"]),
  /** When the proposer fails: stop the run, or ask twice more and then go on without candidates (row 21). */
  onError: Schema.Literals(["stop", "continue"])
})

export const VerificationConfig = Schema.Struct({
  /** |D_B|: questions each candidate is tried on; 0 lets candidates in untried. */
  samples: NonNegativeInt,
  /** Rounds of proposing and verifying per evolution. */
  rounds: PositiveInt,
  /** D_B: uniform over the buffer, or distinct recent questions without those of the reflected failures (row 13). */
  questions: Schema.Literals(["uniform", "distinct"]),
  /** What a candidate must reach: the parent's mean on record, or that of the parent run again (row 13). */
  baseline: Schema.Literals(["stored", "rerun"]),
  /** Whether the best rejected candidates fill places left after the last round (row 12). */
  fill: Schema.Boolean
})

export const RolloutConfig = Schema.Struct({
  /** G: trajectories per (instruction, question). */
  groupSize: PositiveInt,
  /** How many of the rollouts asked for at once may fail by a tool or reward; more stop the run, to be resumed. */
  maxFailedShare: Share,
  ...Struct.omit(EpisodeConfig.fields, ["topK"])
})

export const RetrievalConfig = Schema.Struct({
  topK: PositiveInt,
  /** Address of a server that speaks Search-R1's `/retrieve`, or null for the embedded index over the passages. */
  url: Schema.NullOr(Schema.NonEmptyString),
  /** Environment variable that holds the server's key, or null where it needs none. */
  apiKeyEnv: Schema.NullOr(Schema.NonEmptyString),
  /** How long one request may take. */
  timeoutSeconds: PositiveNumber,
  /** Repetitions of a request that failed. */
  retries: NonNegativeInt,
  /** Queries per request. */
  batchSize: PositiveInt,
  /** Requests in flight at once. */
  concurrency: PositiveInt,
  /** Queries whose answers are remembered. */
  cacheSize: NonNegativeInt
})

export const TrainConfig = Schema.Struct({
  /** Questions per step; each becomes one group. */
  batchSize: PositiveInt,
  /** First step that updates the policy; earlier steps only collect rollouts and credit instructions. */
  fromStep: PositiveInt,
  /** Last step that updates the policy, or null for the last of the run. */
  untilStep: Schema.NullOr(PositiveInt),
  ...PolicyGradientConfig.fields
})

export const EvaluationConfig = Schema.Struct({
  /** Test questions of the final table, answered once each as rollouts are; 0 skips it. */
  questions: NonNegativeInt,
  /** Steps between looks at the validation questions, after the last step too; 0 never looks. */
  every: NonNegativeInt,
  /** Validation questions of a look, answered once each under the best instruction of that time. */
  validation: PositiveInt,
  /** The training reward collapses when its 10-step mean falls below this share of the best one; 0 sees no collapse. */
  collapse: Share,
  /**
   * The policy to return (row 22): the last one, the best on validation questions, or, when the training reward
   * collapsed, the last validated one before that.
   */
  select: Schema.Literals(["last", "best", "before-collapse"])
})

export const CheckpointConfig = Schema.Struct({
  /** Steps between checkpoints. */
  every: PositiveInt,
  /** Checkpoints kept besides the first and those that may be selected in the end, or null for all. */
  keep: Schema.NullOr(PositiveInt)
})

export const EngineConfig = Schema.Struct({
  /** Folder of an embedded model, or null for the one that ships. */
  model: Schema.NullOr(Schema.NonEmptyString),
  /** Worker threads, or null for one per core, at most four. Results do not depend on it. */
  workers: Schema.NullOr(PositiveInt),
  /** Base URL of a server of the Tinker protocol, or null for the embedded engine. */
  url: Schema.NullOr(Schema.NonEmptyString),
  /** Which server it is; `auto` asks it. */
  profile: Schema.Literals(["auto", "inspo", "tinker", "skyrl-jax", "skyrl-train", "verl"]),
  /** Name of the base model on the server, or null for its first. */
  baseModel: Schema.NullOr(Schema.NonEmptyString),
  /** Folder with `tokenizer.json` of that model; null is enough for `inspo engine serve`. */
  tokenizer: Schema.NullOr(Schema.NonEmptyString),
  /** Environment variable with the server's key. */
  apiKeyEnv: Schema.NullOr(Schema.NonEmptyString),
  /** How samples and gradients travel; `auto` is protobuf where the server takes it. */
  encoding: Schema.Literals(["auto", "json", "protobuf"]),
  /** Tokens of prompt and response together, or null for what the server says. */
  contextLength: Schema.NullOr(PositiveInt),
  /** Rank of LoRA adapters where the server trains them, 0 for all parameters, or null for 32. */
  loraRank: Schema.NullOr(NonNegativeInt),
  /** Sequences in flight at once, or null for what the server says. */
  concurrency: Schema.NullOr(PositiveInt)
})

/** Switches that exist for controlled comparisons and stay off in ordinary runs. */
export const ControlConfig = Schema.Struct({
  /** Permutes which instruction the rewards and verification scores are credited to; the policy's rewards stay true. */
  permuteCredit: Schema.Boolean
})

/** Everything a run needs to know; two runs with equal configs on one machine type are equal to the bit. */
export const RunConfig = Schema.Struct({
  seed: NonNegativeInt,
  data: DataConfig,
  instruction: InstructionConfig,
  population: PopulationConfig,
  sampler: SamplerConfig,
  halving: HalvingConfig,
  schedule: ScheduleConfig,
  buffer: BufferConfig,
  proposer: ProposerConfig,
  verification: VerificationConfig,
  rollout: RolloutConfig,
  retrieval: RetrievalConfig,
  reward: RewardConfig,
  train: TrainConfig,
  evaluation: EvaluationConfig,
  checkpoint: CheckpointConfig,
  engine: EngineConfig,
  control: ControlConfig
})
export interface RunConfig extends Schema.Schema.Type<typeof RunConfig> {}

/** How many instructions the run begins with. */
export const initialSize = ({ population }: Pick<RunConfig, "population">): number =>
  population.initial ?? population.size

/** A config value that cannot be used: which field, what it is, what was expected and how to mend it. */
export class ConfigError extends Schema.TaggedError<ConfigError>()("ConfigError", {
  field: Schema.String,
  value: Schema.String,
  expected: Schema.String,
  remedy: Schema.String
}) {
  override get message() {
    return `config: ${this.field} is ${this.value}, expected ${this.expected}. ${this.remedy}`
  }
}

/** What the config asks of an engine that cannot do it; the first such thing, or null. */
export const unsupported = ({ train }: RunConfig, engine: EngineProfile): ConfigError | null => {
  if (train.kl === "loss" && train.klCoefficient > 0 && engine.klInLoss === false)
    return new ConfigError({
      field: "train.kl",
      value: "loss",
      expected: `advantages, because the loss of the engine ${engine.name} takes no KL term`,
      remedy: "Set train.kl to advantages, or train.klCoefficient to 0."
    })
  if (train.entropyCoefficient > 0 && engine.entropyInLoss !== true)
    return new ConfigError({
      field: "train.entropyCoefficient",
      value: String(train.entropyCoefficient),
      expected: `0, because the loss of the engine ${engine.name} takes no entropy term`,
      remedy: "Set train.entropyCoefficient to 0."
    })
  return null
}

/** Rules between fields that no single field can state; the first that is broken, or null. */
export const inconsistency = (config: RunConfig): ConfigError | null => {
  const { data, population, rollout, train } = config
  if (population.parents > population.size)
    return new ConfigError({
      field: "population.parents",
      value: String(population.parents),
      expected: `at most population.size (${population.size})`,
      remedy: "Lower population.parents or raise population.size."
    })
  if (
    (data.questions === null) !== (data.corpus === null) &&
    (data.questions === null || config.retrieval.url === null)
  )
    return new ConfigError({
      field: data.questions === null ? "data.questions" : "data.corpus",
      value: "null",
      expected: "a path, because its counterpart is one",
      remedy:
        "Set both data.questions and data.corpus, or neither to use the generated world; data.corpus may be missing " +
        "where retrieval.url is set."
    })
  if (data.validationShare + data.testShare >= 1)
    return new ConfigError({
      field: "data.testShare",
      value: String(data.testShare),
      expected: "data.validationShare + data.testShare below 1",
      remedy: "Leave a share of the questions for training."
    })
  if (population.initial !== null && (population.initial < population.parents || population.initial > population.size))
    return new ConfigError({
      field: "population.initial",
      value: String(population.initial),
      expected: `null or population.parents (${population.parents}) to population.size (${population.size})`,
      remedy: "Leave it null to begin with population.size instructions."
    })
  if (config.instruction.seeds.length >= initialSize(config))
    return new ConfigError({
      field: "instruction.seeds",
      value: `a list of ${config.instruction.seeds.length}`,
      expected: `at most ${initialSize(config) - 1}, as many as the first population holds beside instruction.seed`,
      remedy: "Shorten the list or raise population.size."
    })
  if (train.fromStep > config.schedule.steps)
    return new ConfigError({
      field: "train.fromStep",
      value: String(train.fromStep),
      expected: `at most schedule.steps (${config.schedule.steps})`,
      remedy: "Lower train.fromStep, so that at least the last step trains."
    })
  if (train.untilStep !== null && train.untilStep < train.fromStep)
    return new ConfigError({
      field: "train.untilStep",
      value: String(train.untilStep),
      expected: `at least train.fromStep (${train.fromStep})`,
      remedy: "Raise train.untilStep, or leave it null to train until the end."
    })
  const { evaluation } = config
  if (evaluation.select !== "last" && evaluation.every === 0)
    return new ConfigError({
      field: "evaluation.every",
      value: "0",
      expected: `a positive number, because evaluation.select is ${evaluation.select}`,
      remedy: "Set it to the steps between looks at the validation questions, or evaluation.select to last."
    })
  const unitsPerStep = train.unit === "questions" ? train.batchSize : train.batchSize * rollout.groupSize
  if (train.miniBatchSize > unitsPerStep)
    return new ConfigError({
      field: "train.miniBatchSize",
      value: String(train.miniBatchSize),
      expected: `at most ${unitsPerStep} ${train.unit}, a step's batch`,
      remedy: "Lower train.miniBatchSize or raise train.batchSize."
    })
  const unknownTool = rollout.tools.find((name) => !builtInTools.includes(name))
  if (unknownTool !== undefined)
    return new ConfigError({
      field: "rollout.tools",
      value: JSON.stringify(unknownTool),
      expected: `some of ${builtInTools.join(", ")}`,
      remedy: "Leave it out; further tools are given to the rollout layer in TypeScript."
    })
  if (rollout.mode === "searchr1") {
    if (rollout.agent !== "search-r1" || rollout.tools.length !== 1 || rollout.tools[0] !== "search")
      return new ConfigError({
        field: "rollout.mode",
        value: "searchr1",
        expected: "rollout.agent search-r1 and rollout.tools [search], which is all that Search-R1 has",
        remedy: "Set them so, or rollout.mode to robust."
      })
    if (config.reward.kind !== "command" && config.reward.scope !== "searchr1")
      return new ConfigError({
        field: "reward.scope",
        value: config.reward.scope,
        expected: "searchr1, because rollout.mode is",
        remedy: "Set reward.scope=searchr1 to compare with Search-R1, or rollout.mode to robust."
      })
  }
  if (config.reward.kind === "command" && config.reward.command.length === 0)
    return new ConfigError({
      field: "reward.command",
      value: "[]",
      expected: "a program and its arguments, because reward.kind is command",
      remedy: "Name the program, as in --set 'reward.command=[python3, score.py]'."
    })
  return null
}
