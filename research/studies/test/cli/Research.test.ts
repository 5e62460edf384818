import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, FileSystem, Option, Schema } from "effect"
import { research, type ResearchInput } from "../../cli/Research.ts"
import { catalogue } from "../../src/Catalogue.ts"

const nothing: ResearchInput = {
  study: Option.none(),
  seeds: Option.none(),
  furtherSeeds: Option.none(),
  arms: Option.none(),
  preset: Option.none(),
  set: [],
  scale: Option.none(),
  testQuestions: Option.none(),
  simulations: Option.none(),
  seed: Option.none(),
  out: Option.none(),
  json: true,
  quiet: true
}
const some = Option.some<string>

describe("research", () => {
  it.effect("lists the studies where none is named", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      yield* research(nothing).pipe(
        Effect.provideService(Console.Console, { ...console, log: (text: string) => told.push(text) })
      )
      assert.deepStrictEqual(JSON.parse(told.join("")), { studies: catalogue })
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect.each([
    [
      "arms of a simulation",
      { study: some("compare-errors"), arms: some("evolved") },
      "--arms is not for compare-errors, which is a simulation: it takes --simulations, --seed."
    ],
    ["settings of one", { study: some("compare-errors"), set: ["randomSeed=2"] }, "--set is not for compare-errors"],
    [
      "simulations of runs",
      { study: some("table1"), simulations: Option.some(9) },
      "--simulations is not for table1, which makes runs"
    ],
    [
      "seeds of a gate",
      { study: some("blind-gate"), seeds: some("1") },
      "--seeds is not for blind-gate, which evaluates a policy without training"
    ],
    ["an unknown reward", { study: some("blind-gate"), arms: some("nix") }, "expected some of r1, r2, r3"],
    [
      "seeds on which an arm would not run",
      { study: some("table1"), seeds: some("31-34"), furtherSeeds: some("1-3") },
      "--further-seeds is 1-3 and --seeds 31-34, without a common seed, so"
    ],
    [
      "further seeds that are none of the seeds",
      { study: some("static-vs-evolved"), seeds: some("31-34"), furtherSeeds: some("1-3") },
      "Set --further-seeds 31-34"
    ],
    ["no simulations", { study: some("compare-errors"), simulations: Option.some(0) }, "expected 1 or more"],
    ["an unknown arm", { study: some("ablation"), arms: some("nix") }, "expected some of evolved, static"],
    [
      "test questions without their checkpoints",
      { study: some("curves"), testQuestions: Option.some(9) },
      "checkpoint.keep=null"
    ],
    [
      "test questions of no figure",
      { study: some("ablation"), testQuestions: Option.some(9) },
      "is only valid for curves"
    ],
    [
      "more test questions than there are",
      { study: some("curves"), testQuestions: Option.some(999), set: ["checkpoint.keep=null"] },
      "expected 0 to 500"
    ],
    ["no seeds", { study: some("ablation"), seeds: some("x") }, "--seeds"]
  ] as const)("refuses %s", ([, given, problem]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(research({ ...nothing, ...given }))
      assert.include(error.message, problem)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  const Tests = Schema.fromJsonString(
    Schema.Struct({
      arms: Schema.Array(
        Schema.Struct({
          arm: Schema.String,
          courses: Schema.Array(Schema.Array(Schema.Struct({ step: Schema.Int, em: Schema.Finite })))
        })
      )
    })
  )

  it.effect(
    "asks test questions along training after the runs, and changes nothing in them",
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const out = yield* fs.makeTempDirectoryScoped()
        const curves = {
          ...nothing,
          study: some("curves"),
          preset: some("tiny"),
          seeds: some("1"),
          furtherSeeds: some("1"),
          set: ["checkpoint.keep=null"],
          out: some(out),
          json: false
        }
        const made = Effect.forEach(["metrics.jsonl", "candidates.json", "journal.sqlite"], (name) =>
          fs.readFile(`${out}/evolved/seed-1/${name}`)
        )
        yield* research(curves)
        const before = yield* made
        yield* research({ ...curves, testQuestions: Option.some(4) })
        assert.deepStrictEqual(yield* made, before)
        assert.match(yield* fs.readFileString(`${out}/test-em.svg`), /EM on test questions/u)
        const { arms } = yield* Schema.decodeEffect(Tests)(yield* fs.readFileString(`${out}/test-em.json`))
        assert.deepStrictEqual(
          arms.map(({ arm, courses }) => [arm, courses.map((course) => course.map(({ step }) => step))]),
          [
            ["evolved", [[0, 2, 4]]],
            ["static", [[0, 2, 4, 6]]]
          ]
        )
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    { timeout: 120_000, tags: "runs" }
  )
})
