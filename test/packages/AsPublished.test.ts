import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { publint } from "publint"
import { build } from "vite"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { codeBlocks, promised, squash } from "./support/Example.ts"
import { findNode, run } from "./support/Process.ts"
import { type Published, publish } from "./support/Published.ts"
import { modules, onNode20, packages, readManifest, root } from "./support/Workspace.ts"

const asked = process.env["INSPO_PACK"] === "1"
const why = asked ? "" : " (skipped: takes a minute; set INSPO_PACK=1)"
const node20 = findNode(20)
const whyNot20 = node20 === undefined ? " (skipped: there is no node v20 on the PATH)" : ""

describe.skipIf(!asked)(`packages as published${why}`, { timeout: 120_000 }, () => {
  let folder = ""
  let published: Published

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "inspo-published-"))
    published = await publish(folder)
  }, 240_000)

  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** Runs an example as plain JavaScript beside the published packages. */
  const runExample = async (node: string, name: string, readme: string) => {
    const [example = ""] = codeBlocks(readme, "js")
    const file = join(published.project, `${name}.mjs`)
    await writeFile(file, example)
    const { code, output } = await run(node, [file], published.project)
    assert.strictEqual(code, 0, output)
    assert.strictEqual(squash(output), promised(example))
  }

  for (const one of packages) {
    const { name, readme } = one

    describe(`packages/${name}`, () => {
      it("is packed as publint wants it", async () => {
        const tarball = Uint8Array.from(await published.tarballOf(one)).buffer
        const { messages } = await publint({ pack: { tarball }, strict: true })
        assert.deepStrictEqual(messages, [])
      })

      it("names versions, and holds its README and its license", async () => {
        const installed = published.folderOf(one)
        const { dependencies, peerDependencies } = readManifest(installed)
        for (const range of Object.values({ ...dependencies, ...peerDependencies })) assert.match(range, /^[\d.]+$/u)
        assert.strictEqual(await readFile(join(installed, "README.md"), "utf8"), readme)
        assert.isNotEmpty(await readFile(join(installed, "LICENSE"), "utf8"))
      })

      it("keeps the promise of its README", () => runExample(process.execPath, name, readme))
    })
  }

  for (const { name, readme } of packages.filter(({ name }) => onNode20.has(name)))
    it.skipIf(node20 === undefined)(`packages/${name} keeps its promise on Node 20${whyNot20}`, () =>
      runExample(node20 ?? "", name, readme)
    )

  for (const moduleResolution of ["nodenext", "bundler"]) {
    it(`has types for every module, by ${moduleResolution}`, async () => {
      const entries = packages.flatMap((one) =>
        modules(one)
          .filter((module) => !module.startsWith("internal/") && !module.includes("/internal/"))
          .map((module) => (module === "index" ? one.manifest.name : `${one.manifest.name}/${module}`))
      )
      // What resolves to no types is `any`, and has every member.
      const lines = entries.map(
        (entry, index) => `import * as m${index} from "${entry}"\n// @ts-expect-error\nm${index}.isNoMemberOfIt`
      )
      await writeFile(join(published.project, "types.mts"), `${lines.join("\n")}\n`)
      await writeFile(
        join(published.project, "tsconfig.json"),
        JSON.stringify({
          compilerOptions: {
            moduleResolution,
            module: moduleResolution === "bundler" ? "esnext" : "nodenext",
            target: "es2024",
            strict: true,
            noEmit: true,
            skipLibCheck: true,
            types: ["node"],
            typeRoots: [join(root, "node_modules/@types")]
          },
          files: ["types.mts"]
        })
      )
      const tsc = join(root, "node_modules/typescript/bin/tsc")
      const { code, output } = await run(process.execPath, [tsc, "-p", "tsconfig.json"], published.project)
      assert.strictEqual(code, 0, output)
    })
  }

  it("tree-shakes: what is not used is not bundled", async () => {
    const unused = packages.map(({ manifest }) => `import "${manifest.name}"`).join("\n")
    assert.strictEqual(squash(await bundle(unused)), "")
    const stream = await bundle(
      'import { QuestionStream } from "@inspo/sampler"\nexport const { batch } = QuestionStream'
    )
    assert.include(stream, "perEpoch")
    assert.notInclude(stream, "guaranteed")
  })

  const bundle = async (code: string): Promise<string> => {
    const entry = join(published.project, "entry.mjs")
    await writeFile(entry, code)
    const built = await build({
      root: published.project,
      logLevel: "error",
      configFile: false,
      build: {
        write: false,
        minify: false,
        lib: { entry, formats: ["es"] },
        rolldownOptions: { external: /^(?!@inspo\/|\.|\/)/u }
      }
    })
    return [built]
      .flat()
      .flatMap((one) => ("output" in one ? one.output.map((file) => ("code" in file ? file.code : "")) : []))
      .join("\n")
  }
})
