import { readFile, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { join } from "node:path"
import { readChangesets } from "@changesets/read"
import * as Changelog from "./Changelog.ts"
import { published } from "./Packages.ts"
import { run } from "./run.ts"

/** The changesets of a workspace that no version has yet. */
export const pending = (root: string): Promise<ReadonlyArray<Changelog.Change>> => readChangesets(root)

/** Gives them a version, and an entry in the changelog. Returns the version, which all published packages share. */
export const apply = async (root: string, changes: ReadonlyArray<Changelog.Change>): Promise<string> => {
  await run(process.execPath, [changeset, "version"], root)
  const [first] = published(root)
  if (first === undefined) throw new Error(`${root} has no package that is published`)
  const file = join(root, "CHANGELOG.md")
  await writeFile(file, Changelog.add(await readFile(file, "utf8"), first.version, changes))
  return first.version
}

const changeset = join(createRequire(import.meta.url).resolve("@changesets/cli/package.json"), "../bin.js")
