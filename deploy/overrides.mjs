// Prints a package.json with which npm installs the versions of pnpm-lock.yaml, transitive dependencies included.
import { readFileSync } from "node:fs"

const lockfile = readFileSync(new URL("../pnpm-lock.yaml", import.meta.url), "utf8")
const [, packages = ""] = /^packages:\n(.*?)^snapshots:/msu.exec(lockfile) ?? []
const versions = Map.groupBy(packages.matchAll(/^ {2}'?(@?[^@\s]+)@([^'\s]+?)'?:$/gmu), ([, name]) => name)
// For a package in several versions (only types, and tools of developers), each dependent names its own.
const pinned = [...versions].flatMap(([name, found]) => (found.length === 1 ? [[name, found[0][2]]] : []))
if (pinned.length === 0) throw new Error("pnpm-lock.yaml names no packages; expected its section `packages`")
process.stdout.write(`${JSON.stringify({ private: true, overrides: Object.fromEntries(pinned) }, null, 2)}\n`)
