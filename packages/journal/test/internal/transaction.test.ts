import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { SqlError } from "effect/sql"
import { transaction } from "../../src/internal/database.ts"

const gone = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("Socket error") }) })

describe("transaction", () => {
  it.effect("that cannot be rolled back fails as the database does", () =>
    Effect.gen(function* () {
      const sql = { withTransaction: () => Effect.die(gone) }
      assert.strictEqual(yield* Effect.flip(transaction(sql, Effect.void)), gone)
    })
  )

  it.effect("leaves a fault of the program what it is", () =>
    Effect.gen(function* () {
      const fault = new TypeError("a bug")
      const sql = { withTransaction: () => Effect.die(fault) }
      const exit = yield* Effect.exit(transaction(sql, Effect.void))
      assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) === fault && Cause.hasDies(exit.cause))
    })
  )
})
