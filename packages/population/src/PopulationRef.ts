/** A population that keeps its state, for programs of effects. */
import { Context, Effect, Layer, type Option, SynchronizedRef } from "effect"
import { Attempt, type Instruction, type InvalidInput } from "@inspo/domain"
import type { Contents, Member, Value } from "./Contents.ts"
import * as Members from "./Members.ts"
import * as Values from "./Values.ts"

/** The functions of `Population` and of a valuation, over a population that they change in place. */
export interface Interface {
  readonly get: Effect.Effect<Contents>
  readonly values: Effect.Effect<ReadonlyArray<Value>>
  readonly best: Effect.Effect<Option.Option<Member>>
  readonly observe: (
    step: number,
    groups: ReadonlyArray<Values.Observed>
  ) => Effect.Effect<void, InvalidInput.InvalidInput>
  readonly add: (newcomers: ReadonlyArray<Members.Newcomer>) => Effect.Effect<void, InvalidInput.InvalidInput>
  readonly remove: (ids: Iterable<Instruction.InstructionId>) => Effect.Effect<void, InvalidInput.InvalidInput>
}

/** A population with its state. */
export class PopulationRef extends Context.Service<PopulationRef, Interface>()("@inspo/population/PopulationRef") {}

/**
 * Provides a population of these instructions in memory, valued by default by {@link Values.make}. Fails with `InvalidInput` on
 * an empty text, and on an id that occurs twice.
 *
 * @example
 * ```ts
 * import { PopulationRef } from "@inspo/population"
 * import { Effect } from "effect"
 *
 * Effect.gen(function* () {
 *   const population = yield* PopulationRef.PopulationRef
 *   const [seed] = (yield* population.get).members
 *   if (seed !== undefined) yield* population.observe(1, [{ instructionId: seed.instruction.id, rewards: [1, 0] }])
 *   return yield* population.values
 * }).pipe(Effect.provide(PopulationRef.layerRef(["Answer.", "Search, then answer."])))
 * ```
 */
export const layerRef = (
  instructions: ReadonlyArray<Instruction.Instruction | string>,
  valuation: Values.Interface = Values.make()
): Layer.Layer<PopulationRef, InvalidInput.InvalidInput> =>
  Layer.effect(
    PopulationRef,
    Effect.gen(function* () {
      const state = yield* SynchronizedRef.make(yield* Attempt.attempt(() => Members.begin(instructions)))
      const change = (next: (population: Contents) => Contents) =>
        SynchronizedRef.updateEffect(state, (population) => Attempt.attempt(() => next(population)))
      return {
        get: SynchronizedRef.get(state),
        values: Effect.map(SynchronizedRef.get(state), valuation.values),
        best: Effect.map(SynchronizedRef.get(state), valuation.best),
        observe: (step, groups) => change((population) => valuation.observe(population, step, groups)),
        add: (newcomers) => change((population) => Members.add(population, newcomers)),
        remove: (ids) => change((population) => Members.remove(population, ids))
      }
    })
  )
