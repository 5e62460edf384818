import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlError } from "effect/sql"
import * as NodeSqlite from "../../src/internal/nodeSqlite.ts"
import { transaction } from "../../src/internal/transaction.ts"

const failure = new SqlError.SqlError({
  reason: new SqlError.UnknownError({ cause: new Error("EIO"), message: "EIO", operation: "sync" })
})

describe("a transaction", () => {
  it.effect("is over once the disk has it, and nothing goes on where that is not known", () =>
    Effect.gen(function* () {
      const disk = yield* Deferred.make<void, SqlError.SqlError>()
      const sql = yield* NodeSqlite.makeClient(new DatabaseSync(":memory:"), {
        readOnly: false,
        sync: Deferred.await(disk)
      })
      yield* sql`CREATE TABLE one (value INTEGER)`
      const write = yield* Effect.forkChild(transaction(sql, sql`INSERT INTO one VALUES (1)`), {
        startImmediately: true
      })
      yield* Effect.yieldNow
      assert.isUndefined(write.pollUnsafe())
      yield* Deferred.fail(disk, failure)
      assert.strictEqual(yield* Effect.flip(Fiber.join(write)), failure)
      assert.strictEqual(yield* Effect.flip(sql`SELECT * FROM one`), failure)
      assert.strictEqual(yield* Effect.flip(transaction(sql, sql`INSERT INTO one VALUES (2)`)), failure)
    })
  )
})
