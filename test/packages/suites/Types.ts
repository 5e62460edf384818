import { mkdir, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { run } from "../support/Process.ts"
import type { Published } from "../support/Published.ts"
import { documented, onNode20, packages, type Package, readManifest, root } from "../support/Workspace.ts"

/** What a program of a user imports: by documented modules only, or by each that the package exports. */
const specifier = ({ manifest }: Package, module: string) =>
  module === "index" ? manifest.name : `${manifest.name}/${module}`

const documentedModules = packages.flatMap((one) => documented(one).map((module) => specifier(one, module)))

const exportedModules = packages.flatMap(({ folder, manifest }) =>
  Object.keys(readManifest(folder).exports ?? {})
    .filter((path) => path !== "./package.json")
    .map((path) => `${manifest.name}${path.slice(1)}`)
)

/** Whether a module is of a package that needs no new Node. */
const isForAll = (specifier: string): boolean => onNode20.has(specifier.split("/")[1] ?? "")

const compilers = {
  "TypeScript 7": join(root, "node_modules/typescript/bin/tsc"),
  "TypeScript 5.9": join(root, "test/node_modules/typescript-5/bin/tsc")
}

const es = ["es2022"]
const dom = ["es2022", "dom"]

/** Where programs run: what their types are, and which modules they can import. */
const environments = {
  "with everything": { environment: { lib: dom, types: ["node"] }, of: exportedModules },
  "without the DOM": { environment: { lib: es, types: ["node"] }, of: exportedModules },
  "without Node": { environment: { lib: dom, types: [] }, of: exportedModules.filter(isForAll) }
}

const cases = [
  ["TypeScript 7", "nodenext", "with everything"],
  ["TypeScript 7", "bundler", "with everything"],
  ["TypeScript 7", "nodenext", "without the DOM"],
  ["TypeScript 7", "bundler", "without Node"],
  ["TypeScript 5.9", "nodenext", "with everything"],
  ["TypeScript 5.9", "bundler", "with everything"],
  ["TypeScript 5.9", "nodenext", "without Node"]
] as const

/** The type tests of the packages as they are published. */
export const types = (published: () => Published): void => {
  describe("the declarations of the packages", () => {
    for (const [compiler, moduleResolution, name] of cases)
      it(`hold with ${compiler} by ${moduleResolution} ${name}`, async () => {
        const folder = join(
          published().project,
          "types",
          `${compiler}-${moduleResolution}-${name}`.replaceAll(" ", "-")
        )
        const { environment, of } = environments[name]
        await mkdir(folder, { recursive: true })
        await writeFile(join(folder, "all.mts"), imports(of))
        const errors = await errorsOf(compilers[compiler], folder, { moduleResolution, ...environment })
        assert.deepStrictEqual(name === "with everything" ? errors : errors.filter(isOurs), [])
      })

    it("hold of the client in a project that has nothing else", async () => {
      const folder = join(published().project, "..", "client-alone")
      await mkdir(join(folder, "node_modules/@inspo"), { recursive: true })
      const client = packages.find(({ name }) => name === "client")
      assert.isDefined(client)
      await symlink(published().folderOf(client), join(folder, "node_modules/@inspo/client"), "junction")
      await writeFile(join(folder, "all.mts"), imports(["@inspo/client", "@inspo/client/AiSdk"]))
      for (const tsc of Object.values(compilers))
        assert.deepStrictEqual(await errorsOf(tsc, folder, { moduleResolution: "nodenext", lib: dom, types: [] }), [])
    })

    it("name every type that a program infers from what is documented, so that it can have declarations", async () => {
      const folder = join(published().project, "types-named")
      await mkdir(folder, { recursive: true })
      for (const [index, values] of (await valuesOf(published().project)).entries())
        await writeFile(join(folder, `m${index}.mts`), uses(documentedModules[index] ?? "", values))
      const environment = { moduleResolution: "nodenext", lib: dom, types: ["node"], declaration: true }
      const errors = await errorsOf(compilers["TypeScript 7"], folder, environment)
      // TS2883, TS4023 and their like: a type has no name outside of its package.
      const nameless = errors.filter((line) => /error TS(?:2742|2883|4\d{3}|7056):/u.test(line))
      assert.deepStrictEqual(
        nameless.filter((line) => !known.some((name) => line.includes(name))),
        []
      )
    })
  })
}

/** A type of an internal module that results of `compare` name. */
const known = ["population/dist/internal/Cholesky"]

/** Imports of modules; what resolves to no types is `any`, and has every member. */
const imports = (specifiers: ReadonlyArray<string>): string =>
  specifiers
    .map((one, index) => `import * as m${index} from "${one}"\n// @ts-expect-error\nm${index}.isNoMemberOfIt\n`)
    .join("")

/** What TypeScript says of the programs in a folder. */
const errorsOf = async (tsc: string, folder: string, options: Readonly<Record<string, unknown>>) => {
  const compilerOptions = {
    module: options["moduleResolution"] === "bundler" ? "esnext" : "nodenext",
    target: "es2022",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    outDir: "out",
    emitDeclarationOnly: options["declaration"] === true,
    noEmit: options["declaration"] !== true,
    typeRoots: [join(root, "node_modules/@types")],
    ...options
  }
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.mts"] }))
  const { output } = await run(process.execPath, [tsc, "-p", "tsconfig.json", "--pretty", "false"], folder)
  return output.split("\n").filter((line) => /(?:^|: )error TS/u.test(line))
}

/** Whether an error is in a program or in a declaration of inspo; effect and others have types of the DOM. */
const isOurs = (error: string): boolean => !/node_modules\/(?!@inspo\/)/u.test(error)

/** A module that exports each value of another, and the result of each of its functions. */
const uses = (name: string, values: Values): string => {
  const lines = values.flatMap(([path, isFunction], index) => [
    `export const value${index} = ${path}`,
    ...(isFunction ? [`export const result${index} = (...args: Parameters<typeof ${path}>) => ${path}(...args)`] : [])
  ])
  return [`import * as m from "${name}"`, ...lines, ""].join("\n")
}

/** What the documented modules export, loaded in a process of the project. */
const valuesOf = async (project: string): Promise<ReadonlyArray<Values>> => {
  const node = ["--input-type=module", "--eval", listing, ...documentedModules]
  const { code, output, stdout } = await run(process.execPath, node, project)
  assert.strictEqual(code, 0, output)
  return Schema.decodeSync(Schema.fromJsonString(Schema.Array(Values)))(stdout)
}

/** The paths of values, each with whether it is called as it is: neither a class nor a schema. */
const Values = Schema.Array(Schema.Tuple([Schema.String, Schema.Boolean]))
type Values = typeof Values.Type

const listing = `
  const isFunction = (value) => typeof value === "function" && !("ast" in value) && !String(value).startsWith("class ")
  const list = (path, values, isNamespace) => Object.entries(values).flatMap(([name, value]) =>
    !isNamespace && Object.prototype.toString.call(value) === "[object Module]"
      ? list(path + "." + name, value, true)
      : [[path + "." + name, isFunction(value)]])
  const modules = []
  for (const name of process.argv.slice(1)) modules.push(list("m", await import(name), false))
  process.stdout.write(JSON.stringify(modules))`
