/** Values that a schema accepts, refused like any other argument of the core. */
import { Result, Schema } from "effect"
import { of as firstIssue } from "./FirstIssue.ts"
import { refuse } from "./InvalidInput.ts"

/**
 * A check of decoded values: gives the value back, and throws `InvalidInput` with the first field that `schema` refuses. `where`
 * names the function that was given the value.
 *
 * @example
 * ```ts
 * import { Checked, Trajectory } from "@inspo/domain"
 * import { Schema } from "effect"
 *
 * const scored = Checked.by("score", Schema.Struct({ reward: Trajectory.Reward }))
 * console.log(scored({ reward: 0.5 }).reward) // 0.5
 * ```
 */
export const by = <A>(where: string, schema: Schema.Schema<A>): ((value: unknown) => A) => {
  const decode = Schema.decodeUnknownResult(Schema.toType(schema))
  return (value) => {
    const found = decode(value)
    return Result.isSuccess(found) ? found.success : refuse({ where, ...firstIssue(found.failure.issue, value) })
  }
}
