import { Law } from "@inspo/domain/testing"
import { Effect } from "effect"
import { Engine, type EngineError, type EngineProfile } from "../../Engine.ts"

/** A property of every engine; `check` leaves the engine's weights unchanged. */
export interface EngineLaw extends Law.Law<Engine> {
  /** Why the law is skipped for an engine with this profile; null if it applies. */
  readonly skipped: (profile: EngineProfile) => string | null
}

/** The settings of the checks; see `EngineLaws.Options`. */
export interface Settings {
  readonly tolerance: number
  readonly maxTokens: number
  readonly learningRate: number
}

export type LawOf = (settings: Settings) => EngineLaw

type Check = (
  engine: Engine.Interface,
  expect: Expect,
  settings: Settings
) => Effect.Effect<void, EngineError | Law.LawBroken>

type Expect = (holds: boolean, reason: string) => Effect.Effect<void, Law.LawBroken>

export const law =
  (name: string, check: Check, skipped: EngineLaw["skipped"] = () => null): LawOf =>
  (settings) => ({
    name,
    skipped,
    check: Effect.gen(function* () {
      const engine = yield* Engine
      const expect: Expect = (holds, reason) => (holds ? Effect.void : Effect.fail(broken(name, reason)))
      if (skipped(engine.profile) === null) yield* check(engine, expect, settings)
    }).pipe(
      Effect.mapError((error) => (error._tag === "LawBroken" ? error : broken(name, error.message))),
      Effect.withSpan("EngineLaws.law", { attributes: { name } })
    )
  })

const broken = (law: string, reason: string): Law.LawBroken =>
  new Law.LawBroken({ law, reason, counterexample: null, replay: null })

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

/** Runs a check, then restores the weights. */
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
