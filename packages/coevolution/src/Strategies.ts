/** The strategies of a run: one for each part of the loop. */
import { type Question, Strategy } from "@inspo/domain"
import { Rules, type Strategies as Evolution } from "@inspo/evolution"
import { Advantage, Losses } from "@inspo/policy-gradient"
import { Population } from "@inspo/population"
import { ReplayBuffer } from "@inspo/replay-buffer"
import { Sampler } from "@inspo/sampler"
import { Admission, Removal } from "@inspo/successive-halving"
import { Verification } from "@inspo/verification"
import { Effect, Equal, Layer, Schema, Struct } from "effect"
import type { Algorithm } from "./Algorithm.ts"

/** The strategies: values of pure functions. */
export interface Strategies extends Evolution.Strategies {
  readonly sampler: Sampler.Interface
  readonly buffer: ReplayBuffer.Interface
  readonly estimator: Advantage.Interface
  readonly surrogate: Losses.Interface
}

/** The settings and the strategies that a run decides by. */
export interface Deciding {
  readonly algorithm: Algorithm
  readonly strategies: Strategies
}

/** A training question in the core: id and stratum. */
export interface QuestionRef {
  readonly id: Question.QuestionId
  readonly dataSource: string
}

/** The constant input of the core, besides the state. */
export interface DecisionContext extends Deciding {
  /** The training questions, in the order of the data set. */
  readonly questions: ReadonlyArray<QuestionRef>
}

/** The services that provide the strategies of a run. */
export type Services =
  | Population.Population
  | Sampler.Sampler
  | Removal.Removal
  | Admission.Admission
  | ReplayBuffer.ReplayBuffer
  | Verification.Verification
  | Advantage.Estimator
  | Losses.Surrogate

/** The names of the strategies of a run. */
export const Identities = Schema.Struct({
  valuation: Strategy.Identity,
  sampler: Strategy.Identity,
  removal: Strategy.Identity,
  admission: Strategy.Identity,
  buffer: Strategy.Identity,
  verification: Strategy.Identity,
  estimator: Strategy.Identity,
  surrogate: Strategy.Identity
})
export interface Identities extends Schema.Schema.Type<typeof Identities> {}

/** The strategies that an algorithm names. */
export const ofAlgorithm = (algorithm: Algorithm): Strategies => ({
  ...Rules.strategies(algorithm.selection, {
    ...algorithm.population,
    ...algorithm.selection,
    asks: algorithm.verification.samples > 0
  }),
  sampler: samplerOf(algorithm),
  buffer: ReplayBuffer.make(algorithm.selection),
  estimator: Advantage.make(algorithm.train.advantage),
  surrogate: Losses.make(algorithm.train.loss)
})

/** An algorithm with the strategies that it names. */
export const deciding = (algorithm: Algorithm): Deciding => ({ algorithm, strategies: ofAlgorithm(algorithm) })

/**
 * Provides the strategies that an algorithm names. A layer that is merged after it replaces a strategy.
 *
 * @example
 * ```ts
 * import { Presets, Strategies } from "@inspo/coevolution"
 * import { Admission, Removal } from "@inspo/successive-halving"
 * import { Layer } from "effect"
 *
 * declare const mine: Removal.Interface
 *
 * Layer.merge(Strategies.layer(Presets.quick), Layer.succeed(Removal.Removal, mine))
 * ```
 */
export const layer = (algorithm: Algorithm): Layer.Layer<Services> => {
  const { admission, buffer, estimator, removal, sampler, surrogate, verification, valuation } = ofAlgorithm(algorithm)
  return Layer.mergeAll(
    Layer.succeed(Population.Population, valuation),
    Layer.succeed(Sampler.Sampler, sampler),
    Layer.succeed(Removal.Removal, removal),
    Layer.succeed(Admission.Admission, admission),
    Layer.succeed(ReplayBuffer.ReplayBuffer, buffer),
    Layer.succeed(Verification.Verification, verification),
    Layer.succeed(Advantage.Estimator, estimator),
    Layer.succeed(Losses.Surrogate, surrogate)
  )
}

/** The strategies of the context. */
export const fromContext: Effect.Effect<Strategies, never, Services> = Effect.all({
  valuation: Population.Population,
  sampler: Sampler.Sampler,
  removal: Removal.Removal,
  admission: Admission.Admission,
  buffer: ReplayBuffer.ReplayBuffer,
  verification: Verification.Verification,
  estimator: Advantage.Estimator,
  surrogate: Losses.Surrogate
})

/** The names of these strategies. */
export const identities = ({
  admission,
  buffer,
  estimator,
  removal,
  sampler,
  surrogate,
  verification,
  valuation
}: Strategies): Identities => ({
  valuation: valuation.identity,
  sampler: sampler.identity,
  removal: removal.identity,
  admission: admission.identity,
  buffer: buffer.identity,
  verification: verification.identity,
  estimator: estimator.identity,
  surrogate: surrogate.identity
})

/** The first strategy that differs from `recorded`, as text, or null. */
export const difference = (recorded: Identities, now: Identities): string | null => {
  const part = Struct.keys(recorded).find((part) => !Equal.equals(recorded[part], now[part]))
  return part === undefined
    ? null
    : `${nouns[part]} is ${Strategy.describe(now[part])}, but was ${Strategy.describe(recorded[part])} when the run began`
}

/** The strategies of a run that its algorithm does not name, such as custom ones; none before it begins. */
export const foreign = (algorithm: Algorithm, recorded: Identities | null): ReadonlyArray<Foreign> => {
  if (recorded === null) return []
  const named = identities(ofAlgorithm(algorithm))
  return Struct.keys(recorded).flatMap((part) =>
    Equal.equals(recorded[part], named[part]) ? [] : [{ part, identity: recorded[part] }]
  )
}

/** A strategy that no setting names, and its part of the loop. */
export interface Foreign {
  readonly part: keyof Identities
  readonly identity: Strategy.Identity
}

/** The noun of each part. */
export const nouns: Readonly<Record<keyof Identities, string>> = {
  valuation: "the valuation of instructions",
  sampler: "the sampler",
  removal: "the rule of removal",
  admission: "the rule of admission",
  buffer: "the replay buffer",
  verification: "the verification rule",
  estimator: "the estimator of advantages",
  surrogate: "the loss"
}

const samplerOf = (algorithm: Algorithm): Sampler.Interface => {
  const { assignment, shares, temperature } = algorithm.selection
  return Sampler.make({ rule: shares, temperature, assignment, sharing: sharingOf(algorithm) })
}

const sharingOf = ({ rollout: { groupSize, instructionsPerQuestion } }: Algorithm): Sampler.Sharing =>
  instructionsPerQuestion === "samples"
    ? { _tag: "Samples", samples: groupSize }
    : { _tag: "Groups", instructionsPerQuestion }
