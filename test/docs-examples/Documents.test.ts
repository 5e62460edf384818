/** @module-tag deep */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Presets } from "@inspo/config"
import { documented, packages } from "../packages/support/Workspace.ts"
import { parseFile, resolve } from "../../apps/cli/src/config/Resolve.ts"
import { Config } from "../../apps/cli/src/serve/Declared.ts"
import { Result, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { commandLines, fault } from "./support/CommandLine.ts"
import { blocks, documents, read } from "./support/Documents.ts"
import { compile, programs } from "./support/Programs.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

describe("the documents", () => {
  it("show commands that exist, with flags and settings that exist", () => {
    const wrong = blocks
      .filter(({ language }) => language === "sh")
      .flatMap(({ code, place }) =>
        commandLines(code).flatMap((line) => {
          const problem = fault(line)
          return problem === null ? [] : [`${place}: ${line.program} ${line.words.join(" ")}: ${problem}`]
        })
      )
    assert.deepStrictEqual(wrong, [])
  })

  it("show settings that can be run with", () => {
    const wrong = blocks
      .filter(({ language }) => language === "yaml")
      .flatMap(({ code, place }) => {
        const override = parseFile(place, code)
        const faults = [Presets.quick, Presets.paper, Presets.robust].map((preset) =>
          Result.flatMap(override, (known) => resolve(preset, [known]))
        )
        return faults.every(Result.isFailure)
          ? faults.slice(0, 1).map(({ failure }) => `${place}: ${failure.message}`)
          : []
      })
    assert.deepStrictEqual(wrong, [])
  })

  it("show JSON that can be read, and configs that the instruction server takes", () => {
    const all = blocks.filter(({ language }) => language === "json").map(({ code }): unknown => JSON.parse(code))
    const configs = all.filter(Schema.is(Schema.Struct({ populations: Schema.Unknown })))
    assert.isNotEmpty(configs)
    for (const config of configs) Schema.decodeUnknownSync(Config, { onExcessProperty: "error" })(config)
  })

  it("show programs whose types hold, as READMEs and docstrings do", { timeout: 120_000 }, async () => {
    assert.isAbove(programs.length, 90)
    // Below a node_modules that holds every package, like the program of a user.
    const folder = join(root, "test/node_modules/.cache/docs-examples")
    assert.deepStrictEqual(await compile(folder, { noEmit: true }), [])
  })

  it("show imports of modules that READMEs name", () => {
    const known = new Set(
      packages.flatMap((one) =>
        documented(one).map((module) => (module === "index" ? one.manifest.name : `${one.manifest.name}/${module}`))
      )
    )
    const others = programs.flatMap(({ code, place }) =>
      [...code.matchAll(/from "(@inspo\/[^"]+)"/gu)].flatMap(([, name = ""]) =>
        known.has(name) || name.startsWith("@inspo/dashboard/") ? [] : [`${place}: ${name}`]
      )
    )
    assert.deepStrictEqual(others, [])
  })

  it("link to files and headings that exist", () => {
    const broken = documents.flatMap((document) =>
      [...read(document).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/gu)].flatMap(
        ([link, path = "", heading]) => {
          const target = path === "" ? document : join(dirname(document), path)
          if (!existsSync(join(root, target))) return [`${document}: ${link}`]
          return heading === undefined || anchors(target).has(heading) ? [] : [`${document}: ${link}`]
        }
      )
    )
    assert.deepStrictEqual(broken, [])
  })
})

/** The names that GitHub gives to the headings of a document. */
const anchors = (document: string): ReadonlySet<string> =>
  new Set(
    [...read(document).matchAll(/^#+ (.*)$/gmu)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replaceAll(/\s/gu, "-")
    )
  )
