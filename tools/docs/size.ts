/** How large inspo is: `node tools/docs/size.ts` prints the counts that `test/docs/Size.test.ts` bounds. */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Schema } from "effect"
import { configKeys } from "../../apps/cli/src/config/ConfigKeys.ts"
import { Settings } from "../../packages/cohorts/src/Settings.ts"
import { packages, root } from "../../test/packages/support/Workspace.ts"

/** Counts by what they are of. */
export const sizes = () => {
  const words = documents.map((file) => wordsOf(read(file)))
  return {
    "lines of the product": sum(sources.map(linesOf)),
    "files of fewer than 15 lines": sources.filter((file) => !isEntryPoint(file) && linesOf(file) < 15).length,
    "settings of a run": settingsOfRun.length,
    "settings of a served population alone": leaves(Settings.fields, "").filter(
      (path) => !settingsOfRun.some((known) => path === known || path.startsWith(`${known}.`))
    ).length,
    "paths of exports": sum(packages.map(({ manifest }) => Object.keys(manifest.exports ?? {}).length - 1)),
    "words of documents": sum(words),
    "words of README.md": wordsOf(read("README.md")),
    "sentences of more than 20 words": documents.flatMap((file) =>
      sentencesOf(read(file)).filter((one) => wordsOf(one) > 20)
    ).length
  }
}

const read = (file: string): string => readFileSync(join(root, file), "utf8")

/** The files that git knows, without those that were removed. */
const files = (...patterns: ReadonlyArray<string>): ReadonlyArray<string> =>
  execFileSync("git", ["ls-files", "--", ...patterns], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((file) => file !== "" && existsSync(join(root, file)))

const sources = files(
  "packages/*/src/**",
  "apps/*/src/**",
  "packages/dashboard/page/**",
  "clients/python/src/**"
).filter((file) => /\.(?:ts|tsx|mts|py|css)$/u.test(file))

const isEntryPoint = (file: string): boolean => /\/src\/(?:index|testing|main)\.ts$|__main__\.py$/u.test(file)

/** The documents that people write and users read: no generated page, and nothing of research. */
const documents = files("*.md").filter((file) => !/^(?:docs\/reference|research)\//u.test(file))

const linesOf = (file: string): number => read(file).split("\n").length - 1

const wordsOf = (text: string): number => text.split(/\s+/u).filter((word) => word !== "").length

/** The sentences of a document, without code and the addresses of links; each item and each cell has its own. */
const sentencesOf = (text: string): ReadonlyArray<string> =>
  text
    .replace(/^---\n.*?^---$/msu, "")
    .replaceAll(/^ *(```+|~~~+).*?^ *\1/gmsu, "\n\n")
    .replaceAll(/`[^`]*`/gu, "code")
    .replaceAll(/\]\([^)]*\)/gu, "]")
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)|\||^#.*$/mu)
    .flatMap((block) => block.split(/(?<=[.!?])["”)]?\s+(?=\p{Lu}|code|[_*([])/u))
    .map((sentence) => sentence.replaceAll(/(?<=\s|^)[^\p{L}\p{N}]+(?=\s|$)/gu, ""))

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)

const settingsOfRun = configKeys.filter(({ isSection }) => !isSection).map(({ path }) => path)

/** The dotted paths of settings. A run's `selection` is one, whose single choices a population has too. */
const leaves = (fields: Schema.Struct.Fields, prefix: string): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([name, field]) =>
    isStruct(field) ? leaves(field.fields, `${prefix}${name}.`) : [`${prefix}${name}`]
  )

const isStruct = (field: object): field is Schema.Struct<Schema.Struct.Fields> => "fields" in field

if (import.meta.main)
  for (const [what, count] of Object.entries(sizes())) process.stdout.write(`${String(count).padStart(7)}  ${what}\n`)
