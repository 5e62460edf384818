import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { bundleOwn, type Bundler, bundlers, gzipped } from "../support/Bundlers.ts"
import { coldImport } from "../support/ColdImport.ts"
import { squash } from "../support/Example.ts"
import { entries, packages } from "../support/Workspace.ts"

/** A part of inspo that programs bundle or load alone. */
interface Part {
  readonly name: string
  /** What a program uses, by the modules that it imports. */
  readonly used: Readonly<Record<string, ReadonlyArray<string>>>
  /** The most bytes, minified and gzipped with everything that it needs. */
  readonly bytes: Readonly<Record<keyof typeof bundlers, number>>
  /** The most milliseconds that importing it adds to the start of a process, where `effect/Schema` adds at most 150. */
  readonly milliseconds: number
}

const parts: ReadonlyArray<Part> = [
  {
    name: "a choice by softmax shares",
    used: { "@inspo/sampler/Choose": ["choose"], "@inspo/sampler/Shares": ["softmax"] },
    bytes: { esbuild: 5000, rollup: 5000, Vite: 5000 },
    milliseconds: 60
  },
  {
    name: "sampler, values and halving",
    used: {
      "@inspo/sampler/Assign": ["make as makeSampler"],
      "@inspo/population/Members": ["begin as makePopulation", "add", "remove"],
      "@inspo/population/Values": ["make as makeValues", "compare"],
      "@inspo/successive-halving/Halving": ["bottomHalf"],
      "@inspo/successive-halving/EvidencePruning": ["removal as makePruning"]
    },
    bytes: { esbuild: 30_000, rollup: 30_000, Vite: 30_000 },
    milliseconds: 60
  },
  {
    name: "the client of the instruction server",
    used: { "@inspo/client": ["Inspo"] },
    bytes: { esbuild: 5200, rollup: 5200, Vite: 5000 },
    milliseconds: 60
  }
]

/** Checks the sizes of bundles and the times of imports, of the packages in a project as they are published. */
export const bundles = (projectOf: () => string): void => {
  describe("bundles of the packages", () => {
    const bundle = async (bundler: Bundler, program: string): Promise<string> => {
      const folder = join(projectOf(), "bundles")
      await mkdir(folder, { recursive: true })
      const entry = join(folder, "entry.mjs")
      await writeFile(entry, program)
      return bundler(entry)
    }

    it("tree-shake: what is not used is not bundled", async () => {
      const unused = packages.flatMap(entries).map((entry) => `import "${entry}"\n`)
      assert.strictEqual(squash(await bundle(bundleOwn, unused.join(""))), "")
      const stream = await bundle(
        bundleOwn,
        'import { QuestionStream } from "@inspo/sampler"\nexport const { batch } = QuestionStream'
      )
      assert.include(stream, "perEpoch")
      assert.notInclude(stream, "guaranteed")
    })

    for (const { bytes, milliseconds, name, used } of parts) {
      for (const [by, bundler] of Object.entries(bundlers)) {
        const most = bytes[by] ?? 0
        it(`have at most ${most} bytes for ${name}, by ${by}`, async () => {
          const program = Object.entries(used).map(
            ([module, names]) => `export { ${names.join(", ")} } from "${module}"\n`
          )
          const size = gzipped(await bundle(bundler, program.join("")))
          print(`${name}, ${by}: ${size} bytes`)
          assert.isBelow(size, most)
        })
      }

      it(`load ${name} in at most ${milliseconds} ms`, () => {
        const time = coldImport(projectOf(), Object.keys(used))
        print(`${name}: ${Math.round(time)} ms`)
        if (time < milliseconds) return
        // A slow machine: the limit follows the time that a module of effect takes on it.
        const module = coldImport(projectOf(), ["effect/Schema"])
        print(`effect/Schema: ${Math.round(module)} ms`)
        assert.isBelow(time, Math.max(milliseconds, 0.4 * module))
      })
    }
  })
}

/** Figures for the documents, on request. */
const print = (line: string): void => {
  if (process.env["INSPO_SIZE"] !== undefined) process.stdout.write(`${line}\n`)
}
