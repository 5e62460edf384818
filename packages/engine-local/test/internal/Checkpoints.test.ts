import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as AdamW from "../../src/AdamW.ts"
import * as Checkpoints from "../../src/internal/Checkpoints.ts"
import { initialParameters } from "../../src/model/ModelConfig.ts"

const config = { vocabulary: 8, width: 4, layers: 1, heads: 1, keyValueHeads: 1, feedForward: 2, context: 8 }

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "inspo-checkpoints-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

describe("checkpoints of a journal that somebody else wrote", () => {
  it.effect("neither remove nor read what is outside of their folder", () =>
    Effect.gen(function* () {
      const place = yield* temporary
      const folder = join(place, "checkpoints")
      mkdirSync(join(folder, "below"), { recursive: true })
      const parameters = initialParameters(config, "any")
      const checkpoints = Checkpoints.make({ config, folder, parameters, optimizer: AdamW.make(parameters.length) })
      const victims = [join(place, "victim"), join(folder, "below", "victim")]
      for (const victim of victims) writeFileSync(victim, "mine")
      for (const uri of ["../victim", ...victims, "below/victim", "..", "."]) {
        const removed = yield* Effect.flip(checkpoints.remove({ uri, hash: "" }))
        assert.include(removed.message, "is not the name of a file in")
        const restored = yield* Effect.flip(checkpoints.restore({ uri, hash: "" }, "fresh"))
        assert.include(restored.message, "is not the name of a file in")
      }
      for (const victim of victims) assert.isTrue(existsSync(victim))
    })
  )
})
