import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Option } from "effect"
import { fromInput } from "../../src/config/Input.ts"
import { readText } from "../../src/config/TextFile.ts"

layer(NodeServices.layer)("a file that is not UTF-8", (it) => {
  it.effect.each([
    ["randomSeed: 1\nvariants: []\nseedInstruction: Ren\xe9\n", "config.yaml:3: byte 21 (0xE9)"],
    ["variants: seeds.yaml\n", "seeds.yaml:2: byte 6 (0xE9)"]
  ] as const)("is refused by name, line and byte, as a config and as its parts", ([text, told]) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const file = join(folder, "config.yaml")
      const seeds = join(folder, "seeds.yaml")
      yield* fs.writeFile(seeds, Buffer.from("- One\n- Caf\xe9", "latin1"))
      yield* fs.writeFile(file, Buffer.from(text.replace("seeds.yaml", seeds), "latin1"))
      const input = { preset: "quick", file: Option.some(file), set: [], seed: Option.none() }
      const { message } = yield* Effect.flip(fromInput(input))
      assert.include(message, told)
      assert.include(message, "iconv -f latin1 -t utf-8")
    })
  )
})

layer(NodeServices.layer)("a file", (it) => {
  it.effect("is read without its byte order mark, which a prompt would send", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = join(yield* fs.makeTempDirectoryScoped(), "prompt.txt")
      yield* fs.writeFileString(file, "\uFEFFSort it.\uFEFF")
      assert.strictEqual(yield* readText(file), "Sort it.\uFEFF")
    }).pipe(Effect.scoped)
  )
})
