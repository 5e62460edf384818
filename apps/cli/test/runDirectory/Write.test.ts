import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { appender, replaceFile } from "../../src/runDirectory/Write.ts"

describe("appender", () => {
  it.effect("adds to the file it opened, never to one that has replaced it", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/metrics.jsonl`
      yield* replaceFile(file, "1\n")
      const frozen = yield* appender(file)
      yield* frozen("2\n")
      assert.strictEqual(yield* fs.readFileString(file), "1\n2\n")
      yield* replaceFile(file, "1\n2\n")
      const successor = yield* appender(file)
      yield* successor("3\n")
      yield* frozen("2\n")
      yield* successor("4\n")
      assert.strictEqual(yield* fs.readFileString(file), "1\n2\n3\n4\n")
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
