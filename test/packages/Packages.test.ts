import { readFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join, relative } from "node:path"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { exportsOf } from "./support/Exports.ts"
import { examplesOf, linesOfCode, promised } from "./support/Example.ts"
import { dependenciesWithin, packages, modules, nodeRange, onNode20, published, root } from "./support/Workspace.ts"

const BuildConfig = Schema.Struct({
  compilerOptions: Schema.Struct({ lib: Schema.optionalKey(Schema.Array(Schema.String)) }),
  references: Schema.Array(Schema.Struct({ path: Schema.String }))
})
const decodeBuildConfig = Schema.decodeSync(Schema.fromJsonString(BuildConfig))

/** The packages that a source imports, types included; what stands in comments does not count. */
const importedBy = (source: string): ReadonlyArray<string> =>
  packagesIn(source, /^(?:import|export)\s[^"']*?from "([^".][^"]*)"/gmu)

/** Those that it loads, or looks for, when they are needed. */
const loadedBy = (source: string): ReadonlyArray<string> =>
  packagesIn(source, /\bimport(?:\.meta\.resolve)?\("([^".][^"]*)"\)/gu)

const packagesIn = (source: string, imports: RegExp): ReadonlyArray<string> =>
  [...source.replaceAll(/\/\*.*?\*\//gsu, "").matchAll(imports)].map(([, specifier = ""]) =>
    specifier
      .split("/")
      .slice(0, specifier.startsWith("@") ? 2 : 1)
      .join("/")
  )

for (const one of published) {
  const { folder, manifest, name, readme } = one

  describe(`@inspo/${name}`, () => {
    it("says what it is and where it runs", () => {
      assert.isNotEmpty(manifest.description)
      assert.strictEqual(manifest.license, "Apache-2.0")
      assert.deepStrictEqual(manifest.engines, { node: nodeRange(name) })
      assert.include(readme, `# ${manifest.name}\n`)
    })

    it("is built after what it depends on", () => {
      const { compilerOptions, references } = decodeBuildConfig(
        readFileSync(join(folder, "tsconfig.build.json"), "utf8")
      )
      assert.sameMembers(
        references.map(({ path }) => path),
        published
          .filter((other) => dependenciesWithin(manifest).includes(other.name))
          .map((other) => `${relative(folder, other.folder)}/tsconfig.build.json`)
      )
      // The standard library of Node 20, so that the compiler refuses what came later.
      if (onNode20.has(name))
        assert.deepStrictEqual(compilerOptions.lib, ["ES2023", "ES2024.String", "ESNext.Disposable"])
    })

    it("depends on all it imports", () => {
      const declared = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
      const imported = modules(one).flatMap((module) =>
        importedBy(readFileSync(join(folder, "src", `${module}.ts`), "utf8"))
      )
      const missing = imported.filter((other) => !isBuiltin(other) && other !== manifest.name && !declared.has(other))
      assert.isEmpty([...new Set(missing)])
    })

    it("imports all it depends on", () => {
      const sources = modules(one).map((module) => readFileSync(join(folder, "src", `${module}.ts`), "utf8"))
      const imported = new Set(sources.flatMap((source) => [...importedBy(source), ...loadedBy(source)]))
      const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
      // What an own package needs for a part of it alone, and leaves to those that use this part.
      const left = new Set(
        published
          .filter((other) => dependenciesWithin(manifest).includes(other.name))
          .flatMap((other) => Object.keys(other.manifest.peerDependenciesMeta ?? {}))
      )
      assert.isEmpty(declared.filter((other) => !imported.has(other) && !left.has(other)))
    })

    it("needs no newer Node than it promises", () => {
      if (onNode20.has(name)) assert.isEmpty(dependenciesWithin(manifest).filter((other) => !onNode20.has(other)))
    })
  })
}

for (const one of packages)
  it(`@inspo/${one.name} exports what its README names, and besides only what other packages import`, () => {
    const { exports, publishConfig } = exportsOf(one)
    const remedy = "renew it with: npx pnpm@12 run api"
    assert.deepStrictEqual(one.manifest.exports, exports, remedy)
    assert.deepStrictEqual(one.manifest.publishConfig?.exports, publishConfig.exports, remedy)
  })

const sectionsOfLaws = [...readFileSync(join(root, "docs/reference/laws.md"), "utf8").matchAll(/^## (.*)$/gmu)].map(
  ([, heading = ""]) => heading.replaceAll("/", "")
)

for (const { manifest, name, readme } of packages)
  describe(`@inspo/${name} as a library`, () => {
    it("says whether importing it does anything", () => {
      assert.isDefined(manifest.sideEffects)
    })

    it("names its laws in its README", () => {
      const [, section] = /`docs\/reference\/laws\.md#([\w-]+)`/u.exec(readme) ?? []
      assert.include(sectionsOfLaws, section)
    })

    it("has a README that begins with an example of at most 18 lines that says what it prints", () => {
      const [example = ""] = examplesOf(readme)
      assert.include(example, `from "${manifest.name}`)
      assert.isAtMost(linesOfCode(example), 18)
      assert.isNotEmpty(promised(example))
    })
  })
