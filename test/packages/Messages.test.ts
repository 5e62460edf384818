import { globSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { Presets } from "@inspo/config"
import { leafPaths } from "../../apps/cli/src/config/Resolve.ts"
import { assert, describe, it } from "vitest"

const packages = fileURLToPath(new URL("../../packages", import.meta.url))

/**
 * The sources of the libraries. Settings are what `analysis`, `coevolution` and `config` are about, and generated code speaks of nothing.
 * Variables of styles look like flags.
 */
const sources = globSync("*/src/**/*.ts", { cwd: packages }).filter(
  (file) =>
    !/^(?:analysis|coevolution|config)\/|^dashboard\/src\/(?:Colour|report\/Style)\.ts$|\/generated\//u.test(file)
)

const settings = leafPaths(Presets.quick)
  .filter((name) => name.includes("."))
  .map((name) => name.replaceAll(".", String.raw`\.`))

/** Words of the command line: a setting within prose, a flag, a command. */
const words = new RegExp(
  [
    String.raw`[\w,;:] (?:${settings.join("|")})\b(?![.(])`,
    String.raw`["'\x60 (]--[a-z][a-z-]+`,
    String.raw`\binspo (?:run|resume|fork|replay|show|plan|eval)\b`
  ].join("|"),
  "u"
)

/** Lines of code; what stands in comments is read by those who write code. */
const linesOf = (source: string): ReadonlyArray<string> =>
  source
    .replaceAll(/\/\*.*?\*\//gsu, (comment) => comment.replaceAll(/[^\n]/gu, ""))
    .split("\n")
    .map((line) => line.replace(/(?:^|\s)\/\/.*$/u, ""))

describe("what libraries say", () => {
  it("names their own options, no settings, flags or commands of the program", () => {
    assert.isAbove(sources.length, 100)
    const found = sources.flatMap((file) =>
      linesOf(readFileSync(join(packages, file), "utf8")).flatMap((line, index) =>
        /["'`]/u.test(line) && words.test(line) ? [`${relative(".", file)}:${index + 1}: ${line.trim()}`] : []
      )
    )
    assert.deepStrictEqual(found, [])
  })
})
