import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { type ExportInput, exportRun } from "../../src/run/Export.ts"
import { view } from "../../src/run/View.ts"

const run = { directories: ["run"], lineage: false, report: Option.none(), out: Option.none() }
const html = Option.some("html" as const)

describe("show", () => {
  it.effect.each([
    ["the reports of two runs", { ...run, directories: ["one", "two"], report: html }, "2 directories, expected one"],
    ["a report of the lineage", { ...run, lineage: true, report: html }, "--lineage and --report"],
    ["a file without a report", { ...run, out: Option.some("report.html") }, "Add --report html"],
    ["a file for the lineage", { ...run, lineage: true, out: Option.some("lineage") }, "Add --report html"]
  ] as const)("refuses %s", ([, input, problem]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(view(input))
      assert.strictEqual(error._tag, "UsageError")
      assert.include(error.message, problem)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

describe("export", () => {
  it.effect.each<readonly [string, Partial<ExportInput>]>([
    ["--clauses is for --internalize.", { clauses: true }],
    ["--set foo=1 is for --internalize.", { set: ["foo=1"] }]
  ])("reads nothing where %s", ([problem, changes]) =>
    Effect.gen(function* () {
      const input = { directory: "run", out: "deployed", internalize: Option.none(), set: [], ...changes }
      const error = yield* Effect.flip(exportRun(input))
      assert.strictEqual(error._tag, "UsageError")
      assert.include(error.message, problem)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
