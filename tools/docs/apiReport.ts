/** What users can import, as declarations without docstrings: a change of it is seen as a change of this text. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parseSync } from "vite"
import { type Package, packages, root } from "../../test/packages/support/Workspace.ts"
import { modulesOfApi, read } from "./declarations.ts"

/** The file of the report. */
export const file = join(root, "docs/api.txt")

/** The report, from what was built. */
export const report = (): string => {
  const promised = promisedPackages()
  const own = packages
    .filter(({ name }) => promised.has(name))
    .flatMap((one) => modulesOfApi(one).map((module) => ofModule(one, module)))
  const others = packages.filter(({ name }) => !promised.has(name))
  return [`${note}\n`, ...own, ...exportedAgain(others, own.join("\n"))].join("\n")
}

const note =
  "The declarations of the packages that docs/release.md promises something of. Made by `npx pnpm@12 run api`; a test compares it with what is built."

/** The packages that are not internal, but for those of which only an interface of another kind is promised, such as HTTP. */
const promisedPackages = (): ReadonlySet<string> => {
  const rows = readFileSync(join(root, "docs/release.md"), "utf8").matchAll(/^\| (.*?) +\| (?:stable|settling) +\|$/gmu)
  return new Set(
    [...rows].flatMap(([, cell = ""]) => [...cell.matchAll(/`([\w-]+)`(?!:)/gu)].map(([, name = ""]) => name))
  )
}

const ofModule = (one: Package, module: string): string =>
  `# ${one.manifest.name}/${module}\n${declarations(read(one, module)).join("\n")}\n`

/** The modules of packages that a text exports again: what is promised of an export includes what it leads to. */
const exportedAgain = (others: ReadonlyArray<Package>, text: string): ReadonlyArray<string> => {
  const exported = new Set([...text.matchAll(/^export .* from "(@inspo\/[^"]+)"/gmu)].map(([, name]) => name))
  return others.flatMap((one) =>
    modulesOfApi(one)
      .filter((module) => exported.has(`${one.manifest.name}/${module}`))
      .map((module) => ofModule(one, module))
  )
}

const declarations = (text: string): ReadonlyArray<string> => {
  const bare = withoutComments(text)
  return parseSync("module.d.ts", bare)
    .program.body.filter(({ type }) => type !== "ImportDeclaration")
    .map(({ end, start }) => shortened(bare.slice(start, end)))
    .filter((code) => code !== "export {};")
}

const withoutComments = (text: string): string => {
  const { comments } = parseSync("module.d.ts", text)
  const kept = comments.map(({ start }, index) => text.slice(comments[index - 1]?.end ?? 0, start))
  return [...kept, text.slice(comments.at(-1)?.end ?? 0)].join("").replaceAll(/^\s*\n/gmu, "")
}

/** Inferred types of protocols have thousands of lines: beyond the first ones, a hash. */
const shortened = (code: string): string => {
  const lines = code.split("\n").map((line) => line.replaceAll("    ", "  "))
  return lines.length <= longest
    ? lines.join("\n")
    : [...lines.slice(0, longest), `// … ${lines.length - longest} more lines, ${hash(code)}`].join("\n")
}

const longest = 20

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 12)
