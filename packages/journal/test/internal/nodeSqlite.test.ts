import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlError } from "effect/sql"
import * as NodeSqlite from "../../src/internal/nodeSqlite.ts"
import { transaction } from "../../src/internal/database.ts"

const failure = new SqlError.SqlError({
  reason: new SqlError.UnknownError({ cause: new Error("EIO"), message: "EIO", operation: "sync" })
})

/** The ways to write. */
const ways: ReadonlyArray<readonly [string, (client: NodeSqlite.Client) => Effect.Effect<unknown, SqlError.SqlError>]> =
  [
    ["a transaction", ({ sql }) => transaction(sql, sql`INSERT INTO one VALUES (1)`)],
    ["a statement that is one", ({ write }) => write("INSERT INTO one VALUES (?)", [1])]
  ]

describe.each(ways)("%s", (_, write) => {
  it.effect("is over once the disk has it, and nothing goes on where that is not known", () =>
    Effect.gen(function* () {
      const disk = yield* Deferred.make<void, SqlError.SqlError>()
      const client = yield* NodeSqlite.makeClient(new DatabaseSync(":memory:"), {
        readOnly: false,
        sync: Deferred.await(disk)
      })
      const { sql } = client
      yield* sql`CREATE TABLE one (value INTEGER)`
      const writing = yield* Effect.forkChild(write(client), { startImmediately: true })
      yield* Effect.yieldNow
      assert.isUndefined(writing.pollUnsafe())
      yield* Deferred.fail(disk, failure)
      assert.strictEqual(yield* Effect.flip(Fiber.join(writing)), failure)
      assert.strictEqual(yield* Effect.flip(sql`SELECT * FROM one`), failure)
      assert.strictEqual(yield* Effect.flip(write(client)), failure)
    })
  )
})
