import { Effect, Schema } from "effect"
import { Engine, type EngineError, type EngineProfile } from "../../Engine.ts"

/** Something every engine must hold to; `check` leaves the engine's weights as it found them. */
export interface Law {
  readonly name: string
  readonly check: Effect.Effect<void, EngineError | LawBroken, Engine>
  /** Why the law asks nothing of an engine with this profile; null where it does. */
  readonly skipped: (profile: EngineProfile) => string | null
}

/** An engine does not hold to a law. */
export class LawBroken extends Schema.TaggedError<LawBroken>()("LawBroken", {
  law: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.law}: ${this.reason}`
  }
}

/** What the laws are checked with; see `ConformanceOptions`. */
export interface Settings {
  readonly tolerance: number
  readonly maxTokens: number
  readonly learningRate: number
}

/** A law, given what it is checked with. */
export type LawOf = (settings: Settings) => Law

type Check = (
  engine: Engine.Interface,
  expect: Expect,
  settings: Settings
) => Effect.Effect<void, EngineError | LawBroken>

type Expect = (holds: boolean, reason: string) => Effect.Effect<void, LawBroken>

export const law =
  (name: string, check: Check, skipped: Law["skipped"] = () => null): LawOf =>
  (settings) => ({
    name,
    skipped,
    check: Effect.gen(function* () {
      const engine = yield* Engine
      const expect: Expect = (holds, reason) =>
        holds ? Effect.void : Effect.fail(new LawBroken({ law: name, reason }))
      if (skipped(engine.profile) === null) yield* check(engine, expect, settings)
    }).pipe(Effect.withSpan("EngineConformance.law", { attributes: { name } }))
  })

/** A law about equal samples. */
export const deterministicLaw = (name: string, check: Check): LawOf =>
  law(name, check, ({ deterministic }) => (deterministic ? null : "the engine is not deterministic"))

export const trainingLaw = (name: string, check: Check): LawOf =>
  law(name, check, ({ trains }) => (trains === false ? "the engine does not train" : null))

/** A law that needs log-probabilities of given tokens: an engine that only samples may have none. */
export const scoringLaw = (name: string, check: Check): LawOf =>
  law(name, check, ({ scoresReference, trains }) =>
    trains === false && scoresReference === false ? "the engine gives no log-probabilities of given tokens" : null
  )

export const isRefused = <A>(work: Effect.Effect<A, EngineError>): Effect.Effect<boolean> =>
  Effect.match(work, { onFailure: () => true, onSuccess: () => false })

/** Runs a check and brings the weights back to what they were. */
export const preserving =
  (engine: Engine.Interface) =>
  <E>(check: Effect.Effect<void, E>): Effect.Effect<void, E | EngineError> =>
    Effect.gen(function* () {
      const saved = yield* engine.save("conformance")
      yield* check
      yield* engine.restore(saved)
      yield* engine.remove(saved)
    })

export const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
