/** The API reference of a package in Markdown, from its built declarations: TypeScript 7 has no JavaScript API for TypeDoc to use. */
import { type ESTree, parseSync } from "vite"
import { documented, type Package } from "../../test/packages/support/Workspace.ts"
import { modulesOfApi, read } from "./declarations.ts"

/**
 * The page of a package: the modules that users may import, by how they are imported, and those that these export from, by
 * their names alone. The index is first.
 */
export const reference = (one: Package): string => {
  const { description = "", name } = one.manifest
  const importable = new Set(documented(one))
  const title = (module: string) => {
    if (module === "index") return name
    return importable.has(module) ? `${name}/${module}` : module
  }
  return [
    `# API of ${name}`,
    `${prose(description)}. [About the package](README.md)`,
    ...modulesOfApi(one)
      .toSorted((a, b) => Number(b === "index") - Number(a === "index"))
      .flatMap((module) => moduleParts(title(module), module, read(one, module)))
  ].join("\n\n")
}

/** A name that a module exports, with its docstring and what declares it. */
interface Exported {
  readonly name: string
  readonly doc: string
  readonly code: string
}

const moduleParts = (title: string, module: string, text: string): ReadonlyArray<string> => {
  const { comments, program } = parseSync(`${module}.d.ts`, text)
  const docs = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"))
  const [first] = program.body
  const docBefore = (start: number) => {
    const doc = docs.find(({ end }) => end <= start && text.slice(end, start).trim() === "")
    return doc === undefined ? "" : docText(doc.value)
  }
  const [head] = docs
  const ofModule = head !== undefined && first !== undefined && head.end <= first.start && isImport(first)
  const exported = program.body.flatMap((node) => exportsOf(node, text, docBefore(node.start)))
  return [
    `## ${title} {#${module}}`,
    ofModule ? docText(head.value) : "",
    ...reexports(program.body, text),
    ...[...Map.groupBy(exported, ({ name }) => name)].flatMap(([name, parts]) => [
      `### ${name} {#${module}-${name}}`,
      ...parts.map(({ doc }) => doc),
      ["```ts", ...parts.map(({ code }) => shortened(code)), "```"].join("\n")
    ])
  ].filter((part) => part !== "")
}

const isImport = ({ type }: ESTree.Node): boolean => type === "ImportDeclaration"

const exportsOf = (node: ESTree.Node, text: string, doc: string): ReadonlyArray<Exported> => {
  if (node.type !== "ExportNamedDeclaration" || node.declaration === null) return []
  const { declaration } = node
  const code = text.slice(declaration.start, declaration.end).replace(/^declare /u, "")
  return namesOf(declaration).map((name) => ({ name, doc, code }))
}

const namesOf = (declaration: ESTree.Declaration): ReadonlyArray<string> => {
  switch (declaration.type) {
    case "VariableDeclaration":
      return declaration.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []))
    case "FunctionDeclaration":
    case "TSDeclareFunction":
    case "ClassDeclaration":
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return declaration.id === null ? [] : [declaration.id.name]
    default:
      return []
  }
}

/** What a module exports of others, as it is written. */
const reexports = (body: ReadonlyArray<ESTree.Node>, text: string): ReadonlyArray<string> => {
  const lines = body.flatMap((node) =>
    node.type === "ExportAllDeclaration" || (node.type === "ExportNamedDeclaration" && node.source !== null)
      ? [text.slice(node.start, node.end)]
      : []
  )
  return lines.length === 0 ? [] : [["```ts", ...lines, "```"].join("\n")]
}

/** A docstring without its stars; its links to names are names. */
const docText = (comment: string): string =>
  prose(
    comment
      .replace(/^\*/u, "")
      .replaceAll(/^[ \t]*\* ?/gmu, "")
      .replaceAll(/\{@link ([^}]+)\}/gu, "`$1`")
      .trim()
  )

/** Text without HTML: angle brackets outside of code are escaped. */
const prose = (text: string): string =>
  text
    .split(/(```.*?```|`[^`]*`)/su)
    .map((part, index) => (index % 2 === 0 ? part.replaceAll("<", "&lt;") : part))
    .join("")

/** Inferred types of whole protocols have thousands of lines. */
const shortened = (code: string): string => {
  const lines = code.split("\n").map((line) => line.replaceAll("    ", "  "))
  return lines.length <= longest
    ? lines.join("\n")
    : [...lines.slice(0, longest), `// … ${lines.length - longest} more lines`].join("\n")
}

const longest = 40
