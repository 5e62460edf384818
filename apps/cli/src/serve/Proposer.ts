/** The proposer of served populations in the config file: a language model, or a bank of sentences. */
import { Settings } from "@inspo/cohorts"
import { local } from "@inspo/config"
import { ClauseBank, Learners, Proposer, ProposerModel, layerRandom } from "@inspo/reflection"
import type { Evolving } from "@inspo/serve"
import { Context, Effect, Layer, Schema, Struct } from "effect"

/** The share of the newest work from which a golden answer counts as common, such as a label; candidates may contain it. */
const commonAnswers = Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))

/** Candidates give their parent one or two of the sentences, drawn at random, or withdraw some. */
const Offline = Schema.Struct({
  model: Schema.Literal(ProposerModel.offline),
  clauses: ClauseBank.Sentences,
  commonAnswers
})

/** With a `kind` it learns, and has no `prompt` of the user. `keyEnv` names the variable with the model's key, by default that of its provider; `budget` is for each population. */
const Model = Schema.Struct({
  model: ProposerModel.ProposerModel,
  keyEnv: Schema.optionalKey(Schema.NonEmptyString),
  prompt: Schema.optionalKey(Schema.NullOr(Schema.NonEmptyString)),
  kind: Schema.optionalKey(Schema.Literals(Learners.learners.map(({ name }) => name))),
  prices: Schema.optionalKey(Schema.Array(ProposerModel.ModelPrice)),
  commonAnswers,
  budget: Schema.optionalKey(Settings.sections.budget)
})

export const Config = Schema.Union([Offline, Model])
export type Config = typeof Config.Type

/** The names of its fields. */
export const fields: ReadonlyArray<string> = [...Struct.keys(Offline.fields), ...Struct.keys(Model.fields)]

export const make = Effect.fnUntraced(function* (config: Config | null) {
  if (config === null) return null
  const common = config.commonAnswers === undefined ? {} : { commonAnswers: config.commonAnswers }
  if (config.model === ProposerModel.offline) {
    const bank = Layer.succeed(ClauseBank.Bank, ClauseBank.ofSentences(config.clauses))
    const context = yield* Layer.build(Layer.provide(layerRandom, bank))
    return { proposer: Context.get(context, Proposer), budgetUsd: null, ...common } satisfies Evolving.ServerProposer
  }
  const { budget, keyEnv = null, kind, model, prices = [], prompt = null } = config
  const { layer } = yield* Effect.promise(() => import("../proposer/ModelProposer.ts"))
  const { keys, requests } = local
  const context = yield* Layer.build(
    layer({
      kind: kind === undefined ? { name: "reflection", prompt } : ProposerModel.learning(kind),
      model,
      budget: { ...local.budget, prices },
      keys: { ...keys, proposer: keyEnv },
      requests
    })
  )
  return {
    proposer: Context.get(context, Proposer),
    budgetUsd: budget?.usd ?? null,
    ...common
  } satisfies Evolving.ServerProposer
})
