/** Laws of an interface: named properties that a test of an implementation runs, whatever its test runner is. */
import { Arbitrary, Cause, Effect, Equal, Formatter, Schema } from "effect"

/** A property of every implementation of an interface. `check` fails with a {@link LawBroken} where an implementation does not have it. */
export interface Law<R = never> {
  readonly name: string
  readonly check: Effect.Effect<void, LawBroken, R>
}

/**
 * An implementation breaks a law. `counterexample` is the smallest case that was found, and `replay` repeats it as an option
 * of the same law; both are null for a law of one case.
 */
export class LawBroken extends Schema.TaggedError<LawBroken>()("LawBroken", {
  law: Schema.String,
  reason: Schema.String,
  counterexample: Schema.NullOr(Schema.String),
  replay: Schema.NullOr(Schema.String)
}) {
  override get message() {
    const found = this.counterexample === null ? "" : `\ncounterexample: ${this.counterexample}\nreplay: ${this.replay}`
    return `${this.law}: ${this.reason}${found}`
  }
}

/** How a counterexample is searched: `runs` cases, by default 100, drawn from `seed`. `replay` tries one found case first. */
export interface Options extends Pick<Arbitrary.CheckOptions, "replay" | "runs" | "seed"> {}

/**
 * A law about every case. The property holds where it returns or succeeds; {@link expect} and {@link same} end it. Whatever
 * it throws or fails with breaks the law.
 */
export const forAll = <A, E = never, R = never>(
  name: string,
  cases: Arbitrary.Arbitrary<A>,
  options: Options | undefined,
  property: (value: A) => void | Effect.Effect<unknown, E, R>
): Law<R> => {
  const search = ({ replay, ...rest }: Options): Effect.Effect<void, LawBroken, R> =>
    Effect.gen(function* () {
      const tried = (value: A) =>
        Effect.as(
          attempt(() => property(value)),
          true
        )
      const result = yield* Arbitrary.checkEffect(cases, tried, replay === undefined ? rest : { ...rest, replay })
      switch (result._tag) {
        case "Passed":
          return
        case "ReplayMismatch":
          // The case does not fail any more: others may.
          return yield* search(rest)
        case "Exhausted":
          return yield* new LawBroken({
            law: name,
            reason: `only ${result.runs} cases could be generated`,
            counterexample: null,
            replay: null
          })
        case "Falsified":
          return yield* new LawBroken({
            law: name,
            reason: result.failure._tag === "PropertyError" ? result.failure.error : "it does not hold",
            counterexample: Formatter.format(result.shrunkInput),
            replay: result.replay
          })
      }
    })
  return { name, check: search(options ?? {}) }
}

/** A law of one case: as {@link forAll}, without a search. */
export const once = <E = never, R = never>(
  name: string,
  property: () => void | Effect.Effect<unknown, E, R>
): Law<R> => ({
  name,
  check: Effect.mapError(
    attempt(property),
    (reason) => new LawBroken({ law: name, reason, counterexample: null, replay: null })
  )
})

/** Ends a property unless a condition holds; `reason` says what is wrong. */
export const expect: (holds: boolean, reason: string) => asserts holds = (holds, reason) => {
  if (!holds) throw new Unexpected(reason)
}

/** Ends a property unless two values are equal in all their parts; `what` names the value. */
export const same = (actual: unknown, expected: unknown, what: string): void => {
  if (!Equal.equals(actual, expected))
    throw new Unexpected(`${what}: ${Formatter.format(actual)}; expected ${Formatter.format(expected)}`)
}

/** The laws that do not hold, in their order: to show that a planted bug is found. */
export const broken = <R>(laws: ReadonlyArray<Law<R>>): Effect.Effect<ReadonlyArray<LawBroken>, never, R> =>
  Effect.map(
    Effect.forEach(laws, ({ check }) =>
      Effect.match(check, { onFailure: (found) => [found], onSuccess: (): ReadonlyArray<LawBroken> => [] })
    ),
    (found) => found.flat()
  )

class Unexpected extends Error {}

/** Fails with what is wrong. */
const attempt = <E, R>(property: () => void | Effect.Effect<unknown, E, R>): Effect.Effect<void, string, R> =>
  Effect.suspend(() => {
    const result = property()
    return Effect.isEffect(result) ? result : Effect.void
  }).pipe(
    Effect.asVoid,
    Effect.catchCause((cause) => Effect.fail(reasonOf(Cause.squash(cause))))
  )

const reasonOf = (thrown: unknown): string =>
  thrown instanceof Unexpected
    ? thrown.message
    : thrown instanceof Error
      ? `${thrown.name}: ${thrown.message}`
      : Formatter.format(thrown)
