import type { EngineProfile } from "@inspo/engine"
import { Settings } from "@inspo/evolution/Settings"
import { TrainConfig as PolicyGradientConfig } from "@inspo/policy-gradient"
import { Clauses } from "@inspo/reflection/ClauseBank"
import type { Protocol } from "@inspo/reflection/FailureMode"
import { ProposerModel } from "@inspo/reflection/ProposerModel"
import { RewardConfig as ScoringConfig, type Scope } from "@inspo/reward/RewardConfig"
import { RolloutConfig as EpisodeConfig } from "@inspo/rollout"
import * as Agents from "@inspo/rollout/agents/Agents"
import { DateTime, Option, Schema, Struct } from "effect"
import { ConfigError } from "./ConfigError.ts"

const { fields: shared } = Settings
const PositiveInt = Schema.Int.check(Schema.isGreaterThan(0))
const NonNegativeInt = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
/** A whole number up to what no machine gets done. */
const upTo = (most: number, least = 1) => Schema.Int.check(Schema.isBetween({ minimum: least, maximum: most }))
const PositiveNumber = Schema.Finite.check(Schema.isGreaterThan(0))
const Risk = Schema.Finite.check(
  Schema.isBetween({ minimum: 0, maximum: 1, exclusiveMinimum: true, exclusiveMaximum: true })
)
const Day = Schema.String.check(
  Schema.makeFilter((text) => Option.exists(DateTime.make(text), (day) => DateTime.formatIsoDateUtc(day) === text), {
    expected: "a day written YYYY-MM-DD"
  })
)

export const DataConfig = Schema.Struct({
  mix: Schema.NullOr(Schema.Record(Schema.String, PositiveNumber)).annotate({
    description: "Relative share of each data source among the training questions, or null to train on all of them"
  }),
  world: Schema.Struct({
    randomSeed: Schema.NullOr(Schema.Int).annotate({
      description: "Seed of the generated world, or null to use the run's seed"
    }),
    questions: PositiveInt.annotate({
      description: "Questions to train on; a tenth as many are held out for validation, and half as many for the test"
    })
  }).annotate({ description: "The generated world, where `data.questions` is null" })
})

export const PopulationConfig = Schema.Struct({
  ...shared.population.fields,
  ties: Schema.Literals(["order", "evidence"]).annotate({
    description:
      "Equal values are ranked by order of entry, or by more groups and then age. So is I* while no value is known: with " +
      "`evidence` by lifetime and verification score"
  })
})

export const SamplerConfig = Schema.Struct({
  ...shared.sampler.fields,
  assignment: Schema.Literals(["independent", "stratified"]).annotate({
    description: "Independent draws, or systematic sampling within each data source"
  })
})

export const HalvingConfig = Schema.Struct({
  rule: Schema.Literals(["bottom-half", "fixed-half", "spare-unseen", "confident"]).annotate({
    description:
      "Which instructions a prune drops: the bottom half, or with `fixed-half` half of `population.size`. Of that half, " +
      "`spare-unseen` spares what was seen in fewer than four groups, `confident` what is not known to be worse: it drops the best of a population in at most one of 20 runs"
  }),
  ranking: Schema.Literals(["before", "after"]).annotate({
    description: "Prune and choose parents by the values before this step's rewards, or after them"
  })
})

export const ScheduleConfig = Schema.Struct({
  steps: upTo(1_000_000).annotate({ description: "T: policy updates" }),
  ...shared.schedule.fields,
  policyFirst: Schema.NullOr(PositiveInt).annotate({
    description:
      "Steps in which the policy trains under `seedInstruction` alone, before instructions evolve under it as it is then; " +
      "null for both at once"
  })
})

export const BufferConfig = Schema.Struct({
  failures: Schema.Literals(["any", "own"]).annotate({
    description: "Whose failures a proposer sees: any of the latest step, or the parent's own"
  }),
  capacitySteps: PositiveInt.annotate({ description: "Steps an experience stays in the replay buffer" }),
  perQuestionCap: Schema.NullOr(PositiveInt).annotate({
    description: "Experiences kept of one question, or null for all"
  })
})

export const ProposerConfig = Schema.Struct({
  kind: Schema.Literals(["reflection", "history", "paraphrase", "random"]).annotate({
    description:
      "What the model that writes is shown: the parent and its failures (`reflection`), the scores of earlier " +
      "instructions (`history`), the parent alone (`paraphrase`), or nothing at all (`random`, always drawn " +
      "from the offline clause bank)"
  }),
  candidates: upTo(10_000).annotate({ description: "Candidates per proposal" }),
  parent: Schema.Literals(["in-turn", "random"]).annotate({
    description: "Whose failures a round of proposing begins with: each parent's in turn, best first, or a random one's"
  }),
  lint: Schema.Literals(["parsed", "strict"]).annotate({
    description: "`parsed`: whatever has a text. `strict`: no lost tags, no duplicates, a length cap"
  }),
  commonAnswers: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })).annotate({
    description:
      "Share of the training questions from which on a golden answer is common, such as a label: a candidate may name it"
  }),
  onError: Schema.Literals(["stop", "continue"]).annotate({
    description: "When the proposer fails: stop the run, or ask twice more and then go on without candidates"
  }),
  ...Struct.omit(ProposerModel.fields, ["url"])
})

export const VerificationConfig = Schema.Struct({
  ...shared.verification.fields,
  questions: Schema.Literals(["uniform", "subset", "distinct"]).annotate({
    description:
      "D_B: uniform over the buffer with replacement, a random subset of its questions, or distinct recent questions " +
      "without those of the reflected failures"
  }),
  baseline: Schema.Literals(["stored", "shared", "rerun"]).annotate({
    description:
      "What a candidate must reach: the parent's mean on record, the same with the candidate judged on the questions " +
      "that the record covers, or the mean of the parent run again"
  }),
  fill: Schema.Boolean.annotate({
    description: "Whether the best rejected candidates fill places left after the last round"
  }),
  stop: Schema.NullOr(Risk).annotate({
    description:
      "A candidate leaves once the chance that all questions would turn its verdict is below this, or once as many " +
      "others as there are places are as surely ahead of it; null asks all of them"
  }),
  reuse: Schema.Boolean.annotate({
    description:
      "Try candidates on questions of the following steps, in whole groups that train the policy too, in place " +
      "of rollouts of their own"
  })
})

export const RolloutConfig = Schema.Struct({
  groupSize: upTo(10_000).annotate({ description: "G: trajectories per (instruction, question)" }),
  ...Struct.omit(EpisodeConfig.fields, ["maxStartTokens", "toolAttempts", "toolTimeoutSeconds", "topK", "topP"])
})

export const RetrievalConfig = Schema.Struct({
  topK: PositiveInt.annotate({ description: "Passages per search" })
})

export const TrainConfig = Schema.Struct({
  batchSize: PositiveInt.annotate({ description: "Questions per step; each becomes one group" }),
  fromStep: Schema.NullOr(PositiveInt).annotate({
    description:
      "First step that updates the policy, or null to leave it as it is and evolve instructions alone; earlier " +
      "steps only collect rollouts and credit instructions"
  }),
  demonstrations: Schema.NullOr(Schema.Literals(["answers", "searches"])).annotate({
    description:
      "What the policy learns from: its own rollouts (null), or demonstrations that answer at once, or that " +
      "search for every supporting passage first"
  }),
  ...PolicyGradientConfig.fields
})

export const EvaluationConfig = Schema.Struct({
  questions: NonNegativeInt.annotate({
    description: "Test questions of the final table, answered once each as rollouts are; 0 skips it"
  }),
  every: NonNegativeInt.annotate({
    description:
      "Steps between validations, one of which follows the last step; 0 never validates. Each asks up to 100 questions, " +
      "once each under the best instruction of that time"
  }),
  select: Schema.Literals(["last", "best", "before-collapse"]).annotate({
    description:
      "The policy to return: the last one, the best on validation questions, or, when the training " +
      "reward collapsed to less than half of its best 10-step mean, the last validated one before that"
  }),
  instruction: Schema.Literals(["best", "proven"]).annotate({
    description:
      "The instruction to use from now on: the best, or the seed unless the best has a verification or " +
      "lifetime mean above the seed's"
  })
})

export const CheckpointConfig = Schema.Struct({
  every: PositiveInt.annotate({ description: "Steps between checkpoints" }),
  keep: Schema.NullOr(PositiveInt).annotate({
    description: "Checkpoints kept besides the first and those that may be selected in the end, or null for all"
  })
})

export const EngineConfig = Schema.Struct({
  date: Schema.NullOr(Day).annotate({
    description:
      "The day, YYYY-MM-DD, that the chat template prints where it asks for today's, or null for the day the run begins"
  }),
  contextLength: Schema.NullOr(PositiveInt).annotate({
    description: "Tokens of prompt and response together, or null for what the server says"
  }),
  loraRank: Schema.NullOr(NonNegativeInt).annotate({
    description: "Rank of LoRA adapters where the server trains them, 0 for all parameters, or null for 32"
  })
})

/** What an answer is worth. */
export const RewardConfig = Schema.Struct(Struct.omit(ScoringConfig.fields, ["commandTimeout", "format", "scope"]))

/** The language model that judges answers where `reward.kind` is `judge`. */
export const JudgeConfig = Schema.Struct({
  provider: Schema.NullOr(Schema.Literals(["openai-compatible", "openai", "anthropic", "google"])).annotate({
    description: "Who serves the model that judges, as in `proposer.provider`, or null where nothing is judged"
  }),
  ...Struct.pick(ProposerModel.fields, ["model"])
})

/** Switches that exist for controlled comparisons and stay off in ordinary runs. */
export const ControlConfig = Schema.Struct({
  permuteCredit: Schema.Boolean.annotate({
    description:
      "Permutes which instruction the rewards and verification scores are credited to; the policy's rewards " +
      "stay true"
  }),
  clauses: Schema.NullOr(Clauses).annotate({
    description: "What the rules of the offline proposer write with, or null for the clauses that ship"
  })
})

/**
 * The settings that decide what a run finds. They are recorded in its first event and stay as they are: two runs with equal
 * ones, on equal engines and data, are equal to the bit.
 */
export const Algorithm = Schema.Struct({
  randomSeed: shared.randomSeed.check(Schema.isGreaterThanOrEqualTo(0)),
  data: DataConfig.annotate({ description: "Which questions there are, and how much each source is trained on" }),
  seedInstruction: Schema.NonEmptyString.annotate({
    description:
      "Text of the instruction the run starts from, whose tags of actions every other must keep; `{rows: FILE}` takes it " +
      "from the prompts of Search-R1 rows"
  }),
  variants: Schema.Array(Schema.NonEmptyString).annotate({
    description: "Further instructions of the first population; the proposer writes the rest of it"
  }),
  population: PopulationConfig.annotate({ description: "The instructions alive, and what each is worth" }),
  sampler: SamplerConfig.annotate({ description: "Which instruction a question is asked under" }),
  halving: HalvingConfig.annotate({ description: "Which instructions are pruned" }),
  schedule: ScheduleConfig.annotate({ description: "When to prune and to evolve" }),
  buffer: BufferConfig.annotate({ description: "What a run remembers of its trajectories" }),
  proposer: ProposerConfig.annotate({
    description: "How candidates are asked for, and the language model that writes them, if any"
  }),
  verification: VerificationConfig.annotate({
    description: "How candidates are tried before they enter the population"
  }),
  rollout: RolloutConfig.annotate({ description: "How the agent answers a question" }),
  retrieval: RetrievalConfig.annotate({ description: "The search that the agent calls" }),
  reward: RewardConfig.annotate({ description: "What an answer is worth" }),
  judge: JudgeConfig.annotate({ description: "The language model that judges answers where `reward.kind` is `judge`" }),
  train: TrainConfig.annotate({ description: "The policy update: AdamW on the clipped GRPO objective" }),
  evaluation: EvaluationConfig.annotate({ description: "Which questions are held out, and which policy is returned" }),
  checkpoint: CheckpointConfig.annotate({ description: "When the policy is saved" }),
  engine: EngineConfig.annotate({ description: "What results depend on of the engine, beside the model" }),
  control: ControlConfig.annotate({
    description:
      "Switches for controlled comparisons, off in ordinary runs: `permuteCredit` permutes whom rewards and verification " +
      "scores are credited to; the offline proposer writes `clauses` in the place of those that ship"
  })
})
export interface Algorithm extends Schema.Schema.Type<typeof Algorithm> {}

/** Where a reward looks for the answer: a command in the response, others where the agent says. */
export const scopeOf = ({ reward, rollout }: Pick<Algorithm, "reward" | "rollout">): Scope =>
  (reward.kind === "command" ? undefined : Agents.fromConfig(rollout).answerScope) ?? "response"

/** How the agent acts. Tags are not read where it writes a single turn, all of which a program scores. */
export const protocolOf = ({ reward, rollout }: Pick<Algorithm, "reward" | "rollout">): Protocol => {
  const actions = Agents.actions(rollout)
  const readsTags = actions.length > 1 || reward.kind !== "command" || rollout.scoredTurns === "valid"
  return { actions, readsTags }
}

/** How many instructions the run begins with. */
export const initialSize = ({ population, schedule }: Pick<Algorithm, "population" | "schedule">): number =>
  schedule.policyFirst === null ? population.size : 1

/** Whether a language model is to write instructions: one is named, and the settings leave any to write. */
export const asksModel = (algorithm: Algorithm): boolean => {
  const { evolveEvery, evolveUntil, policyFirst, steps } = algorithm.schedule
  const evolves = evolveEvery > 0 && Math.max(evolveEvery, policyFirst ?? 1) <= Math.min(steps, evolveUntil ?? steps)
  return (
    algorithm.proposer.provider !== "offline" &&
    algorithm.proposer.kind !== "random" &&
    (initialSize(algorithm) > 1 + algorithm.variants.length ||
      (evolves && algorithm.population.size > algorithm.population.parents))
  )
}

/** What the algorithm asks of an engine that cannot do it; the first such thing, or null. */
export const unsupported = ({ train }: Algorithm, engine: EngineProfile): ConfigError | null => {
  if (train.fromStep === null) return null
  if (engine.trains === false)
    return new ConfigError({
      field: "train.fromStep",
      value: String(train.fromStep),
      expected: `null, because the engine ${engine.name} does not train`,
      remedy: "Set train.fromStep to null to evolve instructions under the policy as it is."
    })
  if (train.kl === "advantages" && train.klCoefficient > 0 && engine.scoresReference === false)
    return new ConfigError({
      field: "train.klCoefficient",
      value: String(train.klCoefficient),
      expected: `0, because the engine ${engine.name} gives no log-probabilities of its base model`,
      remedy: "Set train.klCoefficient to 0."
    })
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
  const fixed = engine.fixedOptimizer?.find((name) => train[name] !== defaultOptimizer[name])
  return fixed === undefined
    ? null
    : new ConfigError({
        field: `train.${fixed}`,
        value: String(train[fixed]),
        expected: `${defaultOptimizer[fixed]}, the default, because the engine ${engine.name} uses the value of its server`,
        remedy: `Set train.${fixed} to ${defaultOptimizer[fixed]}, and the value that you want where the server is started.`
      })
}

/** What an engine may replace with values of its own without refusal. */
export const defaultOptimizer = { beta1: 0.9, gradientClip: 1 } as const
