import { readFileSync } from "node:fs"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { scopeOf } from "@inspo/coevolution"
import { Effect, FileSystem, Option, Struct } from "effect"
import { fromInput } from "../../apps/cli/src/config/Input.ts"
import { searchr1 } from "../../packages/rollout/test/support/searchr1.ts"

const page = readFileSync(new URL("../../docs/how-to/search-r1.md", import.meta.url), "utf8")

const file = /```yaml\n([^]*?)```/u.exec(page)?.[1] ?? ""

describe("docs/how-to/search-r1.md", () => {
  it.effect("configures the episodes that the golden cases are played with", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${folder}/search-r1.yaml`, file)
      const { retrieval, reward, rollout } = yield* fromInput({
        preset: "paper",
        file: Option.some(`${folder}/search-r1.yaml`),
        set: [],
        seed: Option.none()
      })
      const expected = { ...searchr1, texts: { ...searchr1.texts, invalidAction: "\n…\n" } }
      const episode = Struct.omit(rollout, ["groupSize", "instructionsPerQuestion", "mcp", "rescue"])
      assert.deepStrictEqual(episode, Struct.pick(expected, Struct.keys(episode)))
      assert.deepStrictEqual(
        [retrieval.topK, reward.kind.name, scopeOf({ reward, rollout })],
        [searchr1.topK, "em", "searchr1"]
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
