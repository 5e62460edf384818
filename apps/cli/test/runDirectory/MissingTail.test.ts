import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import * as MissingTail from "../../src/runDirectory/MissingTail.ts"

const spending = (rollouts: number) =>
  JSON.stringify({ events: 0, phases: { train: { rollouts, tokens: 0, calls: 0, usd: 0, seconds: 0 } } })

/** A directory that shows rollouts which no ledger has. */
const directory = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* fs.makeTempDirectoryScoped()
  yield* fs.writeFileString(`${path}/spent.json`, spending(8))
  return { path, tell: (rollouts: number) => fs.writeFileString(`${path}/spent.json`, spending(rollouts)) }
})

describe("what a journal lacks", () => {
  it.effect("is lost where nothing is written meanwhile", () =>
    Effect.gen(function* () {
      const { path } = yield* directory
      const lost = yield* MissingTail.find(path, yield* MissingTail.listen(path), [], [])
      assert.deepStrictEqual(lost?.witnesses, ["spent.json of 8 rollouts, 0 tokens more"])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("is not lost where a run that is alive settles what it had reserved", () =>
    Effect.gen(function* () {
      const { path, tell } = yield* directory
      const noted = yield* MissingTail.listen(path)
      yield* tell(0)
      assert.isNull(yield* MissingTail.find(path, noted, [], []))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
