import { globSync, readFileSync } from "node:fs"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { run } from "../../packages/support/Process.ts"
import { root } from "../../packages/support/Workspace.ts"
import { type Block, blocks } from "./Documents.ts"

/** A block of TypeScript, from a document or a docstring; `name` is that of its file, without the ending. */
export interface Program extends Block {
  readonly name: string
  /** Whether it also runs: all do, but those that declare what the reader has, call a hosted model, or are tests. */
  readonly runs: boolean
  /** Whether it says that it throws. */
  readonly throws: boolean
}

/** The blocks in the docstrings of a source. */
const docstringBlocks = (source: string): ReadonlyArray<Block> => {
  const text = readFileSync(join(root, source), "utf8")
  return [...text.matchAll(/^ *\* ```(\w+)\n(.*?)^ *\* ```$/gmsu)].map(({ index, 1: language = "", 2: code = "" }) => ({
    place: `${source}:${text.slice(0, index).split("\n").length}`,
    language,
    code: code.replaceAll(/^ *\* ?/gmu, "")
  }))
}

const sources = globSync("{packages,apps}/*/src/**/*.ts", { cwd: root }).toSorted()

/** Every program of the documents, the READMEs of the packages and the docstrings. */
export const programs: ReadonlyArray<Program> = [...blocks, ...sources.flatMap(docstringBlocks)]
  .filter(({ language }) => language === "ts")
  .map((block) => ({
    ...block,
    // Programs in a clone import what others import from npm.
    code: block.code.replaceAll(/"\.\/packages\/([\w-]+)\/src\/index\.ts"/gu, '"@inspo/$1"'),
    name: block.place.replaceAll(/[^\w]+/gu, "-"),
    runs: !/^declare |from "(?:@ai-sdk\/|@effect\/vitest")/mu.test(block.code),
    throws: /\/\/ throws\b/u.test(block.code)
  }))

/** The program of the README of a package. */
export const programOf = (folder: string): Program | undefined =>
  programs.find(({ place }) => place.startsWith(`${folder}/README.md:`))

/**
 * Checks all programs as strictly as TypeScript can, declarations of packages too, and writes them as JavaScript into `dist`
 * of the folder. Returns the errors in them and in the declarations of inspo.
 */
export const compile = async (
  folder: string,
  options: Readonly<Record<string, unknown>> = {}
): Promise<ReadonlyArray<string>> => {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  for (const { code, name } of programs) await writeFile(join(folder, `${name}.ts`), code)
  const config = { compilerOptions: { ...compilerOptions, ...options }, include: ["*.ts"] }
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config))
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  const { output } = await run(process.execPath, [tsc, "-p", "tsconfig.json", "--pretty", "false"], folder)
  return output
    .split("\n")
    .filter((line) => /^(?:[\w-]+\.ts|.*node_modules\/@inspo\/.*)\(.* error |^error /u.test(line))
}

const compilerOptions = {
  module: "nodenext",
  target: "es2023",
  // Declarations of effect name types of Web Crypto.
  lib: ["es2023", "dom"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  outDir: "dist",
  types: ["node"],
  typeRoots: [join(root, "node_modules/@types")]
}
