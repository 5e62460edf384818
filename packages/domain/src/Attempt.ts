/** Pure functions of the core as effects. */
import { Effect } from "effect"
import { InvalidInput } from "./InvalidInput.ts"

/**
 * Runs a pure function: what it refuses becomes the error of the effect, and another exception a defect.
 *
 * @example
 * ```ts
 * import { Attempt } from "@inspo/domain"
 * import { Population } from "@inspo/population"
 * import { Effect } from "effect"
 *
 * const population = Attempt.attempt(() => Population.begin(["Answer.", ""])).pipe(
 *   Effect.catchTag("InvalidInput", ({ message }) => Effect.succeed(message))
 * )
 * console.log(await Effect.runPromise(population)) // Population.begin: instructions[1] is empty; expected a text
 * ```
 */
export const attempt = <A>(run: () => A): Effect.Effect<A, InvalidInput> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(run())
    } catch (error) {
      return error instanceof InvalidInput ? Effect.fail(error) : Effect.die(error)
    }
  })
