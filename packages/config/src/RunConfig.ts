/** The settings of a run in a config file, and their two parts: an algorithm and a deployment. */
import { Algorithm } from "@inspo/coevolution"
import { ModelName } from "@inspo/reflection"
import { Predicate, Schema, Struct } from "effect"
import { Deployment } from "./Deployment.ts"
import { judgesOf, withJudges } from "./Judges.ts"

/** A section with settings of both parts. */
const both = <A extends Schema.Struct.Fields, B extends Schema.Struct.Fields>(
  first: Schema.Struct<A>,
  second: Schema.Struct<B>
) => Schema.Struct({ ...first.fields, ...second.fields })

const { fields } = Algorithm
const { fields: around } = Deployment

/** All settings, in the order of config files and documentation. */
export const RunConfig = Schema.Struct({
  randomSeed: fields.randomSeed,
  data: both(around.data, fields.data).annotate({
    description: "The source of questions and passages: the generated world, or your files"
  }),
  seedInstruction: fields.seedInstruction,
  variants: fields.variants,
  selection: fields.selection,
  population: fields.population,
  schedule: fields.schedule,
  proposer: fields.proposer,
  verification: fields.verification,
  rollout: both(fields.rollout, around.rollout).annotate({ description: "How the agent answers a question" }),
  replay: fields.replay,
  retrieval: both(fields.retrieval, around.retrieval).annotate({ description: "The search that the agent calls" }),
  reward: fields.reward,
  requests: around.requests,
  train: fields.train,
  evaluation: both(around.evaluation, fields.evaluation).annotate({
    description: "Which questions are held out, and which policy is returned"
  }),
  checkpoint: fields.checkpoint,
  policy: around.policy,
  engine: both(around.engine, fields.engine).annotate({
    description: "The engine that samples and trains: the embedded model, or a server"
  }),
  journal: around.journal,
  keys: around.keys,
  budget: around.budget,
  control: fields.control
})
export interface RunConfig extends Schema.Schema.Type<typeof RunConfig> {}

/** Whether the policy is the embedded model, whose weights are files. */
export const isEmbedded = ({ engine, policy }: Pick<RunConfig, "engine" | "policy">): boolean =>
  engine.url === null && policy.model === null

/** The settings that decide the results of a run: the only ones in its core and its journal. */
export const algorithmOf = (config: RunConfig): Algorithm =>
  withJudges(
    {
      ...Struct.pick(config, Struct.keys(fields)),
      data: Struct.pick(config.data, Struct.keys(fields.data.fields)),
      proposer: withName(config.proposer, ModelName.withoutUrl),
      rollout: Struct.pick(config.rollout, Struct.keys(fields.rollout.fields)),
      retrieval: Struct.pick(config.retrieval, Struct.keys(fields.retrieval.fields)),
      evaluation: Struct.pick(config.evaluation, Struct.keys(fields.evaluation.fields)),
      engine: Struct.pick(config.engine, Struct.keys(fields.engine.fields))
    },
    ModelName.withoutUrl
  )

/** Where and how the work is done. */
export const deploymentOf = (config: RunConfig): Deployment => ({
  ...Struct.pick(config, Struct.keys(Struct.omit(around, ["models"]))),
  data: Struct.pick(config.data, Struct.keys(around.data.fields)),
  models: {
    proposer: ModelName.urlOf(config.proposer.model.name),
    judge: null,
    ...Object.fromEntries(judgesOf(config).map(({ model, role }) => [role, ModelName.urlOf(model)]))
  },
  rollout: Struct.pick(config.rollout, Struct.keys(around.rollout.fields)),
  retrieval: Struct.pick(config.retrieval, Struct.keys(around.retrieval.fields)),
  evaluation: Struct.pick(config.evaluation, Struct.keys(around.evaluation.fields)),
  engine: Struct.pick(config.engine, Struct.keys(around.engine.fields))
})

const withName = (proposer: Algorithm["proposer"], change: (name: string) => string): Algorithm["proposer"] => ({
  ...proposer,
  model: { ...proposer.model, name: change(proposer.model.name) }
})

/** The config of an algorithm in a deployment. */
export const join = (algorithm: Algorithm, { models, ...deployment }: Deployment): RunConfig => ({
  ...withJudges(algorithm, (name, role) => ModelName.withUrl(name, models[role] ?? null)),
  ...deployment,
  data: { ...algorithm.data, ...deployment.data },
  proposer: withName(algorithm.proposer, (name) => ModelName.withUrl(name, models.proposer)),
  rollout: { ...algorithm.rollout, ...deployment.rollout },
  retrieval: { ...algorithm.retrieval, ...deployment.retrieval },
  evaluation: { ...algorithm.evaluation, ...deployment.evaluation },
  engine: { ...algorithm.engine, ...deployment.engine }
})

/** The config of another algorithm in the same deployment. */
export const withAlgorithm = (config: RunConfig, algorithm: Algorithm): RunConfig =>
  join(algorithm, deploymentOf(config))

/**
 * Merges `over` into `under`: mappings key by key, other values replace. It is associative where a key is a mapping in all
 * overrides or in none, as in those of a config; else overrides count from the first to the last.
 */
export const merge = (under: unknown, over: unknown): unknown =>
  isMapping(under) && isMapping(over)
    ? Object.fromEntries([
        ...Object.entries(under).map(
          ([key, value]) => [key, Object.hasOwn(over, key) ? merge(value, over[key]) : value] as const
        ),
        ...Object.entries(over).filter(([key]) => !Object.hasOwn(under, key))
      ])
    : over

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Predicate.isObjectKeyword(value) && !Array.isArray(value) && typeof value !== "function"
