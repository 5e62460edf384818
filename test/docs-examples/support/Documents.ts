import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** A fenced block of a document; `place` is its file and line. */
export interface Block {
  readonly place: string
  readonly language: string
  readonly code: string
}

/** The documents of the repository, by path. */
export const documents: ReadonlyArray<string> = [
  "README.md",
  "AGENTS.md",
  "CHANGELOG.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "llms.txt",
  "examples/README.md",
  ...globSync("{apps,packages}/*/README.md", { cwd: root }).toSorted(),
  ...globSync("{docs,research}/**/*.md", { cwd: root, exclude: ["**/node_modules"] }).toSorted()
]

export const read = (document: string): string => readFileSync(join(root, document), "utf8")

/** The fenced blocks of a document, in order. */
export const blocksOf = (document: string): ReadonlyArray<Block> => {
  const text = read(document)
  return [...text.matchAll(/^( *)```(\w+)[^\n]*\n(.*?)^ *```/gmsu)].map(
    ({ index, 1: indent = "", 2: language = "", 3: code = "" }) => ({
      place: `${document}:${text.slice(0, index).split("\n").length}`,
      language,
      code: code.replaceAll(new RegExp(`^${indent}`, "gmu"), "")
    })
  )
}

export const blocks: ReadonlyArray<Block> = documents.flatMap(blocksOf)
