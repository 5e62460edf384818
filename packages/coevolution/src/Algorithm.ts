import type { Engine } from "@inspo/engine"
import { Rules, SearchEvery, Settings } from "@inspo/evolution"
import { ClauseBank, type FailureMode, ProposerModel } from "@inspo/reflection"
import { GroupRewards, RewardConfig as ScoringConfig, type Scope, kindOf } from "@inspo/reward"
import { type Agent, Agents, RolloutConfig as EpisodeConfig } from "@inspo/rollout"
import { TrainConfig as PolicyGradientConfig, adamw } from "@inspo/policy-gradient"
import { DateTime, Effect, Option, Schema, SchemaGetter, Struct } from "effect"
import { ConfigError } from "./ConfigError.ts"

const { fields: shared } = Settings
const PositiveInt = Schema.Int.check(Schema.isGreaterThan(0))
const NonNegativeInt = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
/** A positive integer up to a limit that no machine reaches. */
const upTo = (most: number, least = 1) => Schema.Int.check(Schema.isBetween({ minimum: least, maximum: most }))
const PositiveNumber = Schema.Finite.check(Schema.isGreaterThan(0))
const Day = Schema.String.check(
  Schema.makeFilter((text) => Option.exists(DateTime.make(text), (day) => DateTime.formatIsoDateUtc(day) === text), {
    expected: "a day written YYYY-MM-DD"
  })
)

const DataConfig = Schema.Struct({
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

const ScheduleConfig = Schema.Struct({
  steps: upTo(1_000_000).annotate({ description: "T: policy updates" }),
  ...shared.schedule.fields,
  searchEvery: SearchEvery.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))
})

const ProposerConfig = Schema.Struct({
  kind: ProposerModel.ProposerKind,
  candidates: upTo(10_000).annotate({ description: "Candidates per proposal" }),
  model: ProposerModel.ProposerModel
})

const VerificationConfig = Schema.Struct({
  samples: NonNegativeInt.annotate({
    description:
      "|D_B|: questions that verify each candidate in separate rollouts; 0 accepts candidates without verification, so that " +
      "they are tried on training questions"
  })
})

export const RolloutConfig = Schema.Struct({
  groupSize: upTo(10_000).annotate({ description: "G: trajectories of a group" }),
  instructionsPerQuestion: Schema.Union([Schema.Literal("samples"), upTo(1000)]).annotate({
    description:
      "Instructions that a question is asked under: at most so many, each with its own group of G trajectories (1 is the paper), " +
      "or with `samples` one group of G trajectories that the instructions share, each with its own draw; that needs " +
      "`train.advantage: centred`"
  }),
  ...Struct.omit(EpisodeConfig.fields, ["maxStartTokens", "toolAttempts", "toolTimeoutSeconds", "topK", "topP"]),
  rescue: Schema.NullOr(Schema.Struct({ attempts: upTo(1000), members: upTo(10_000) }))
    .annotate({
      description:
        "Where all rollouts of a group failed: `attempts` more rollouts under the best other instruction, of which up to " +
        "`members` successes are trained in the places of failed ones, under the group's own prompt; null for none"
    })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
})

const ReplayConfig = Schema.Struct({
  successes: upTo(1000, 0).annotate({
    description:
      "Successes that are remembered for each instruction and question; where all rollouts of a group failed, one of them is " +
      "trained in the place of the first; 0 for none"
  })
})

const RewardConfig = Schema.Struct({
  ...ScoringConfig.fields,
  // A default hides the methods of a choice.
  shaping: Object.assign(GroupRewards.Shaping.pipe(Schema.withDecodingDefaultKey(Effect.succeed("none" as const))), {
    methods: GroupRewards.Shaping.methods
  })
})

const RetrievalConfig = Schema.Struct({ topK: PositiveInt.annotate({ description: "Passages per search" }) })

const Staleness = Schema.Literals([0, 1])

export const TrainConfig = Schema.Struct({
  batchSize: PositiveInt.annotate({
    description: "Groups of G trajectories per step, with the paper each on its own question"
  }),
  fromStep: Schema.NullOr(PositiveInt).annotate({
    description:
      "First step that updates the policy, or null to freeze it and only evolve instructions; earlier " +
      "steps only collect rollouts and credit instructions"
  }),
  // Encoded without 0, so that a journal is the same as before this setting existed.
  staleness: Schema.optionalKey(
    Staleness.annotate({
      description:
        "Updates that the sampling policy may lack: with 1 the rollouts of a step are sampled while the step before it " +
        "trains, unless something else is due between them, with 0 never"
    })
  ).pipe(
    Schema.decodeTo(Staleness, {
      decode: SchemaGetter.transformOptional(Option.orElseSome((): typeof Staleness.Type => 0)),
      encode: SchemaGetter.transformOptional(Option.filter((updates) => updates !== 0))
    })
  ),
  ...PolicyGradientConfig.fields
})

const EvaluationConfig = Schema.Struct({
  questions: NonNegativeInt.annotate({
    description: "Test questions of the final table, each answered once, sampled as in training; 0 skips the table"
  }),
  every: NonNegativeInt.annotate({
    description:
      "Steps between validations, the last of which follows the last step; 0 never validates. Each asks up to 100 questions, " +
      "once each, with the best instruction at that step"
  }),
  select: Schema.Literals(["last", "best", "before-collapse"]).annotate({
    description:
      "The policy to return: the last one, the best on validation questions, or, when the training " +
      "reward collapsed to less than half of its best 10-step mean, the last validated one before that"
  })
})

const CheckpointConfig = Schema.Struct({
  every: PositiveInt.annotate({ description: "Steps between checkpoints" }),
  keep: Schema.NullOr(PositiveInt).annotate({
    description: "Checkpoints kept besides the first and those that can still be selected, or null for all"
  })
})

const EngineConfig = Schema.Struct({
  date: Schema.NullOr(Day).annotate({
    description:
      "The date, YYYY-MM-DD, that the chat template prints as today's date, or null for the day the run begins"
  }),
  contextLength: Schema.NullOr(PositiveInt).annotate({
    description: "Most tokens of prompt and response together, or null for the limit that the server reports"
  }),
  loraRank: Schema.NullOr(NonNegativeInt).annotate({
    description: "Rank of the LoRA adapters that the server trains, 0 to train all parameters, or null for 32"
  })
})

/** Switches for controlled comparisons; off in normal runs. */
const ControlConfig = Schema.Struct({
  permuteCredit: Schema.Boolean.annotate({
    description:
      "Permutes which instruction the rewards and verification scores are credited to; the policy's rewards " +
      "are not permuted"
  }),
  clauses: Schema.NullOr(ClauseBank.Clauses).annotate({
    description: "Clauses for the offline proposer, or null for the built-in ones"
  }),
  policyFirst: Schema.NullOr(PositiveInt).annotate({
    description:
      "Steps in which the policy trains under `seedInstruction` alone; then it is frozen and instructions evolve under it; " +
      "null to train and evolve at the same time"
  }),
  demonstrations: Schema.NullOr(Schema.Literals(["answers", "searches"])).annotate({
    description:
      "What the policy learns from: its own rollouts (null), or demonstrations that answer directly, or that " +
      "search for every supporting passage first"
  })
})

/**
 * The settings that decide the results of a run. They are recorded in its first event and cannot change: two runs with equal
 * settings, engines and data have bit-identical results.
 */
export const Algorithm = Schema.Struct({
  randomSeed: shared.randomSeed.check(Schema.isGreaterThanOrEqualTo(0)),
  data: DataConfig.annotate({ description: "The questions, and the share of each data source" }),
  seedInstruction: Schema.NonEmptyString.annotate({
    description:
      "Text of the instruction that the run starts from; all others must keep its action tags. `{rows: FILE}` reads it " +
      "from the prompts of Search-R1 rows"
  }),
  variants: Schema.Array(Schema.NonEmptyString).annotate({
    description: "More instructions for the first population; the proposer writes the rest"
  }),
  selection: Rules.Selection,
  population: shared.population.annotate({ description: "The population of instructions" }),
  schedule: ScheduleConfig.annotate({ description: "When to prune and to evolve" }),
  proposer: ProposerConfig.annotate({
    description: "How candidates are proposed, and the language model that writes them, if any"
  }),
  verification: VerificationConfig.annotate({
    description: "How candidates are verified before they enter the population"
  }),
  rollout: RolloutConfig.annotate({ description: "How the agent answers a question" }),
  replay: ReplayConfig.annotate({ description: "Earlier rollouts that are trained again" }).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed({ successes: 0 }))
  ),
  retrieval: RetrievalConfig.annotate({ description: "The search that the agent calls" }),
  reward: RewardConfig.annotate({ description: "The reward of an answer" }),
  train: TrainConfig.annotate({ description: "The policy update: AdamW on the clipped GRPO objective" }),
  evaluation: EvaluationConfig.annotate({ description: "Which questions are held out, and which policy is returned" }),
  checkpoint: CheckpointConfig.annotate({ description: "When the policy is saved" }),
  engine: EngineConfig.annotate({ description: "The engine settings that results depend on, except the model" }),
  control: ControlConfig.annotate({
    description:
      "Switches for controlled comparisons, off in normal runs: `permuteCredit` permutes which instruction rewards and verification " +
      "scores are credited to; `clauses` replaces the built-in clauses of the offline proposer; `policyFirst` are the steps in which " +
      "the policy trains under `seedInstruction` alone, before it is frozen and instructions evolve; with `demonstrations` the policy " +
      "learns from `answers` or `searches` in place of its rollouts, as `--method sft` sets it"
  })
})
export interface Algorithm extends Schema.Schema.Type<typeof Algorithm> {}

/** Where a reward looks for the answer: a command in the response, others in the scope of the agent, by default the config's. */
export const scopeOf = (
  { reward, rollout }: Pick<Algorithm, "reward" | "rollout">,
  agent: Agent = Agents.fromConfig(rollout)
): Scope => (kindOf(reward).needs === "program" ? undefined : agent.answerScope) ?? "response"

/** How the agent acts, by default the config's. Tags are not parsed for native tool calls, or a single turn that a program scores. */
export const protocolOf = (
  { reward, rollout }: Pick<Algorithm, "reward" | "rollout">,
  agent: Agent = Agents.fromConfig(rollout)
): FailureMode.Protocol => {
  const actions = Agents.actions(agent, rollout)
  const readsTags =
    agent.protocol !== "tool-calls" &&
    (actions.length > 1 || kindOf(reward).needs !== "program" || rollout.scoredTurns === "valid")
  return { actions, readsTags }
}

/** Whether several instructions share the trajectories of a group. */
export const sharesGroups = ({ rollout }: Pick<Algorithm, "rollout">): boolean =>
  rollout.instructionsPerQuestion === "samples"

/** How many instructions the run begins with. */
export const initialSize = ({ control, population }: Pick<Algorithm, "control" | "population">): number =>
  control.policyFirst === null ? population.size : 1

/** Whether a language model writes instructions: one is configured, and the settings leave instructions to write. */
export const asksModel = (algorithm: Algorithm): boolean => {
  const { evolveEvery, evolveUntil, steps } = algorithm.schedule
  const { policyFirst } = algorithm.control
  const evolves = evolveEvery > 0 && Math.max(evolveEvery, policyFirst ?? 1) <= Math.min(steps, evolveUntil ?? steps)
  return (
    algorithm.proposer.model.name !== ProposerModel.offline &&
    algorithm.proposer.kind.name !== "random" &&
    (initialSize(algorithm) > 1 + algorithm.variants.length ||
      (evolves && algorithm.population.size > algorithm.population.parents))
  )
}

/** The first setting that the engine does not support, or null. */
export const unsupported = (
  { train }: Algorithm,
  { hold, profile: engine }: Pick<Engine.Interface, "hold" | "profile">
): ConfigError | null => {
  if (train.fromStep === null) return null
  const { kl } = train
  const own = `the engine ${engine.name}`
  if (engine.trains === false)
    return new ConfigError({
      field: "train.fromStep",
      value: String(train.fromStep),
      expected: `null, because ${own} does not train`,
      remedy: "Set train.fromStep to null to evolve instructions under the frozen policy."
    })
  if (kl.name === "advantages" && kl.coefficient > 0 && engine.scoresReference === false)
    return new ConfigError({
      field: "train.kl",
      value: "advantages",
      expected: `none, because ${own} does not return log-probabilities of its base model`,
      remedy: "Set train.kl to none."
    })
  if (kl.name === "loss" && kl.coefficient > 0 && engine.klInLoss === false)
    return new ConfigError({
      field: "train.kl",
      value: "loss",
      expected: `advantages, because the loss of ${own} has no KL term`,
      remedy: "Set train.kl to advantages, or to none."
    })
  if (train.staleness > 0 && hold === undefined)
    return new ConfigError({
      field: "train.staleness",
      value: String(train.staleness),
      expected: `0, because ${own} cannot sample from earlier weights while it trains`,
      remedy: "Set train.staleness to 0."
    })
  const fixed = engine.fixedOptimizer?.find((name) => train.optimizer[name] !== adamw.defaults[name])
  return fixed === undefined
    ? null
    : new ConfigError({
        field: `train.optimizer.${fixed}`,
        value: String(train.optimizer[fixed]),
        expected: `${adamw.defaults[fixed]}, the default, because ${own} uses the value of its server`,
        remedy: `Set train.optimizer.${fixed} to ${adamw.defaults[fixed]}, and configure your value when you start the server.`
      })
}
