/** Values that a schema accepts, refused like any other argument of the core. */
import { Result, Schema } from "effect"
import { of as firstIssue } from "./FirstIssue.ts"
import { refuse } from "./InvalidInput.ts"

/**
 * A check of decoded values: gives the value back, and throws `InvalidInput` with the first field that `schema` refuses. `where`
 * names the function that was given the value.
 */
export const by = <A>(where: string, schema: Schema.Schema<A>): ((value: unknown) => A) => {
  const decode = Schema.decodeUnknownResult(Schema.toType(schema))
  return (value) => {
    const found = decode(value)
    return Result.isSuccess(found) ? found.success : refuse({ where, ...firstIssue(found.failure.issue, value) })
  }
}
