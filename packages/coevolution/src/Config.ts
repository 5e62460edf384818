import { World, WorldQuestion } from "@inspo/datasets"
import { TrainConfig as PolicyGradientConfig } from "@inspo/policy-gradient"
import { RolloutConfig as EpisodeConfig } from "@inspo/rollout"
import { Schema, Struct } from "effect"

const PositiveInt = Schema.Int.check(Schema.isGreaterThan(0))
const NonNegativeInt = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const PositiveNumber = Schema.Finite.check(Schema.isGreaterThan(0))
const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
/** Which reading of an open point of the paper is used: its letter, or what we would defend. */
const Reading = Schema.Literals(["paper", "robust"])

/** Where questions and passages come from: the generated world, or files of the user. */
export const DataConfig = Schema.Struct({
  /** Path of a question file (Search-R1 rows as JSONL), or null for the generated world. */
  questions: Schema.NullOr(Schema.NonEmptyString),
  /** Path of the corpus (JSONL of `{id, contents}`) that goes with `questions`. */
  corpus: Schema.NullOr(Schema.NonEmptyString),
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
  /** Text of the instruction the run starts from. */
  seed: Schema.NonEmptyString
})

export const PopulationConfig = Schema.Struct({
  /** N_P: how many instructions live after a refill. 1 without evolution is ordinary GRPO. */
  size: PositiveInt,
  /** N_parent: how many survive to become parents; pruning never goes below. */
  parents: PositiveInt,
  /** n of Eq. 6, in steps. */
  window: PositiveInt,
  /** Reading of Eq. 6 for short histories, skipped steps and unseen instructions (rows 4, 6-9). */
  weighting: Reading
})

export const SamplerConfig = Schema.Struct({
  /** τ_s of Eq. 4. */
  temperature: PositiveNumber,
  /** `paper`: independent draws. `robust`: stratified by data source, new instructions get at least one group. */
  assignment: Reading
})

export const HalvingConfig = Schema.Struct({
  /** `paper`: rank by the weights of the step before. `robust`: by the current ones, sparing the undersampled. */
  rule: Reading,
  /** Groups an instruction must have been seen in before `robust` may prune it. */
  minimumGroups: NonNegativeInt
})

export const ScheduleConfig = Schema.Struct({
  /** T: policy updates. */
  steps: PositiveInt,
  /** K_p: prune every so many steps; 0 never. */
  pruneEvery: NonNegativeInt,
  /** K_e: evolve every so many steps; 0 never. */
  evolveEvery: NonNegativeInt,
  /** T_e: last step (exclusive for `paper`, inclusive for `robust`) after which nothing evolves. */
  evolveUntil: NonNegativeInt,
  /** Whether step T_e itself may evolve (row 10). */
  evolveUntilInclusive: Schema.Boolean
})

export const BufferConfig = Schema.Struct({
  /** Reading of which failures and questions are drawn (rows 13-15). */
  policy: Reading,
  /** Steps an experience is remembered; `paper` remembers one. */
  capacitySteps: PositiveInt,
  perQuestionCap: PositiveInt
})

export const ProposerConfig = Schema.Struct({
  /** `rules`: the offline rule-based reflector. `random`: the same clause bank without looking at failures. */
  kind: Schema.Literals(["rules", "random"]),
  /** Failures shown per reflection. */
  failures: PositiveInt,
  /** Candidates per proposal. */
  candidates: PositiveInt
})

export const VerificationConfig = Schema.Struct({
  /** |D_B|: questions each candidate is tried on. */
  samples: PositiveInt,
  /** Rounds of proposing and verifying per evolution. */
  rounds: PositiveInt,
  policy: Reading,
  /** Whether the best rejected candidates fill places left after the last round (row 12). */
  fill: Schema.Boolean
})

export const RolloutConfig = Schema.Struct({
  /** G: trajectories per (instruction, question). */
  groupSize: PositiveInt,
  ...Struct.omit(EpisodeConfig.fields, ["topK"])
})

export const RetrievalConfig = Schema.Struct({ topK: PositiveInt })

export const TrainConfig = Schema.Struct({
  /** Questions per step; each becomes one group. */
  batchSize: PositiveInt,
  /** First step that updates the policy; earlier steps only collect rollouts and credit instructions. */
  fromStep: PositiveInt,
  ...PolicyGradientConfig.fields
})

export const EvaluationConfig = Schema.Struct({
  /** Test questions of the final table, answered once each as rollouts are; 0 skips it. */
  questions: NonNegativeInt
})

export const CheckpointConfig = Schema.Struct({
  /** Steps between checkpoints. */
  every: PositiveInt,
  /** Checkpoints kept besides the first. */
  keep: PositiveInt
})

export const EngineConfig = Schema.Struct({
  /** Folder of an embedded model, or null for the one that ships. */
  model: Schema.NullOr(Schema.NonEmptyString),
  /** Worker threads, or null for one per core, at most four. Results do not depend on it. */
  workers: Schema.NullOr(PositiveInt)
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
  train: TrainConfig,
  evaluation: EvaluationConfig,
  checkpoint: CheckpointConfig,
  engine: EngineConfig,
  control: ControlConfig
})
export interface RunConfig extends Schema.Schema.Type<typeof RunConfig> {}

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
  if ((data.questions === null) !== (data.corpus === null))
    return new ConfigError({
      field: data.questions === null ? "data.questions" : "data.corpus",
      value: "null",
      expected: "a path, because its counterpart is one",
      remedy: "Set both data.questions and data.corpus, or neither to use the generated world."
    })
  if (data.validationShare + data.testShare >= 1)
    return new ConfigError({
      field: "data.testShare",
      value: String(data.testShare),
      expected: "data.validationShare + data.testShare below 1",
      remedy: "Leave a share of the questions for training."
    })
  if (train.fromStep > config.schedule.steps)
    return new ConfigError({
      field: "train.fromStep",
      value: String(train.fromStep),
      expected: `at most schedule.steps (${config.schedule.steps})`,
      remedy: "Lower train.fromStep, so that at least the last step trains."
    })
  const unitsPerStep = train.unit === "questions" ? train.batchSize : train.batchSize * rollout.groupSize
  if (train.miniBatchSize > unitsPerStep)
    return new ConfigError({
      field: "train.miniBatchSize",
      value: String(train.miniBatchSize),
      expected: `at most ${unitsPerStep} ${train.unit}, a step's batch`,
      remedy: "Lower train.miniBatchSize or raise train.batchSize."
    })
  return null
}
