import { Schema } from "effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, join, sep } from "node:path"
import { fileURLToPath } from "node:url"

/** The root of the repository. */
export const root = fileURLToPath(new URL("../../..", import.meta.url))

const Strings = Schema.Record(Schema.String, Schema.String)

/** What these tests read of a package.json. */
export const Manifest = Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  license: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  keywords: Schema.optionalKey(Schema.Array(Schema.String)),
  engines: Schema.optionalKey(Strings),
  bin: Schema.optionalKey(Strings),
  exports: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  sideEffects: Schema.optionalKey(Schema.Union([Schema.Boolean, Schema.Array(Schema.String)])),
  dependencies: Schema.optionalKey(Strings),
  devDependencies: Schema.optionalKey(Strings),
  peerDependencies: Schema.optionalKey(Strings),
  peerDependenciesMeta: Schema.optionalKey(Schema.Record(Schema.String, Schema.Struct({ optional: Schema.Boolean }))),
  publishConfig: Schema.optionalKey(
    Schema.Struct({ exports: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)) })
  )
})
export interface Manifest extends Schema.Schema.Type<typeof Manifest> {}

/** A package of the workspace; `name` is without the scope, `readme` empty where there is none. */
export interface Package {
  readonly name: string
  readonly folder: string
  readonly manifest: Manifest
  readonly readme: string
}

export const readManifest = (folder: string): Manifest =>
  Schema.decodeSync(Schema.fromJsonString(Manifest))(readFileSync(join(folder, "package.json"), "utf8"))

const readPackage = (folder: string): Package => {
  const readme = join(folder, "README.md")
  return {
    name: basename(folder),
    folder,
    manifest: readManifest(folder),
    readme: existsSync(readme) ? readFileSync(readme, "utf8") : ""
  }
}

/** Every library that is published. */
export const packages: ReadonlyArray<Package> = readdirSync(join(root, "packages"))
  .map((name) => join(root, "packages", name))
  .filter((folder) => existsSync(join(folder, "package.json")))
  .map(readPackage)

/** The programs: nothing imports them. */
export const apps: ReadonlyArray<Package> = [readPackage(join(root, "apps/cli"))]

/** Everything that is published. */
export const published: ReadonlyArray<Package> = [...packages, ...apps]

/** The packages that promise to work on Node 20; the others need what came with 22.19. */
export const onNode20: ReadonlySet<string> = new Set([
  "domain",
  "evolution",
  "evolve",
  "population",
  "sampler",
  "successive-halving",
  "replay-buffer",
  "reward",
  "http",
  "client",
  "journal",
  "ledger",
  "outside",
  "reflection",
  "statistics",
  "verification"
])

/** The oldest Node 22 that everything runs on. */
export const oldestNode22 = "22.19.0"

/** The range of Node versions that a package promises. */
export const nodeRange = (name: string): string => (onNode20.has(name) ? ">=20" : `>=${oldestNode22}`)

/** The names of the workspace packages that a package depends on, without the scope. */
export const dependenciesWithin = ({ dependencies = {} }: Manifest): ReadonlyArray<string> =>
  Object.keys(dependencies).flatMap((name) => (name.startsWith("@inspo/") ? [name.slice("@inspo/".length)] : []))

/** A package's own name and those of all workspace packages that are installed with it, without the scope. */
export const installedWith = (name: string): ReadonlySet<string> => {
  const found = new Set([name])
  for (const one of found) for (const other of dependenciesWithin(manifestOf(one))) found.add(other)
  return found
}

const manifestOf = (name: string): Manifest => {
  const one = published.find((other) => other.name === name)
  if (one === undefined) throw new Error(`no package of the workspace is named ${name}`)
  return one.manifest
}

/** The modules of a folder below `src`, as paths without the ending. */
export const modules = ({ folder }: Package): ReadonlyArray<string> =>
  readdirSync(join(folder, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -".ts".length).replaceAll(sep, "/"))
    .sort()

/** The modules that users may import: the index, and those that the README names. What else is exported serves other packages. */
export const documented = (one: Package): ReadonlyArray<string> => {
  const named = new Set([...one.readme.matchAll(moduleNames)].map(([, name = "", module = ""]) => `${name}/${module}`))
  return modules(one).filter((module) => module === "index" || named.has(`${one.manifest.name}/${module}`))
}

const moduleNames = /(@inspo\/[\w-]+)\/([\w/]*\w)/gu

/** What a package is imported by: its name, or the modules that it has instead of an index. */
export const entries = (one: Package): ReadonlyArray<string> => {
  const own = modules(one)
  if (own.includes("index")) return [one.manifest.name]
  return own.filter((module) => !module.includes("/")).map((module) => `${one.manifest.name}/${module}`)
}
