import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import type { RunEvent } from "@inspo/coevolution"
import { layer } from "@inspo/journal/sqlite"
import { ScoredEpisode } from "@inspo/reward"
import { Effect, FileSystem, Result } from "effect"
import { algorithm, customRun } from "../custom-tool-and-reward/CustomRun.ts"
import { directory } from "../custom-tool-and-reward/Directory.ts"
import { pricePerTurn, thrifty } from "../custom-tool-and-reward/ThriftyReward.ts"
import { story } from "../read-a-journal/ReadAJournal.ts"

describe("a tool of one's own", () => {
  it.effect("answers a name with its article, or that there is none", () =>
    Effect.gen(function* () {
      const tool = directory([{ id: "a", title: "Ostrel Bay", text: "Ostrel Bay is a town." }])
      const replies = yield* tool.run(["the mayor of ostrel bay", "Marlen Tovik"])
      assert.deepStrictEqual(replies.map(Result.isSuccess), [true, false])
    })
  )
})

describe("a reward of one's own", () => {
  it.effect("pays less for the same answer in more turns", () =>
    Effect.gen(function* () {
      const question = { question: "Where?", goldenAnswers: ["Ostrel Bay"] }
      const short = ScoredEpisode.fromSolution(question, "<search> x</search><answer> Ostrel Bay</answer>")
      const long = { ...short, turns: ["<search> x</search>", "<search> y</search>", ...short.turns] }
      const spared = (yield* thrifty.score(short)).reward - (yield* thrifty.score(long)).reward
      assert.closeTo(spared, pricePerTurn, 1e-12)
    })
  )
})

describe("a run with both", () => {
  it.live("co-evolves on the embedded engine, and its journal has the history", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const seen: Array<RunEvent["_tag"]> = []
      const state = yield* customRun({
        folder,
        onEvent: ({ _tag }) => Effect.sync(() => seen.push(_tag))
      })
      assert.strictEqual(state.phase._tag, "Finished")
      assert.strictEqual(seen.filter((tag) => tag === "StepTrained").length, algorithm.schedule.steps)

      const lines = yield* Effect.provide(story, layer({ file: `${folder}/journal.sqlite`, mode: "read-only" }))
      assert.strictEqual(lines[0], `The run started with ${algorithm.population.size} instructions.`)
      assert.strictEqual(lines.filter((line) => line.includes("mean reward")).length, algorithm.schedule.steps)
      assert.isTrue(lines.some((line) => line.startsWith("The best instruction is i")))
      assert.match(lines.at(-1) ?? "", /^In total \d+ rollouts with \d+ tokens\.$/u)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
