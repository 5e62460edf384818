import { existsSync, readFileSync } from "node:fs"
import { assert, it } from "vitest"
import { type ESTree, parseSync } from "vite"
import { documented, packages } from "../packages/support/Workspace.ts"

/** The names that a module declares and exports, without those that have a docstring, for overloads on one of them. */
const undocumented = (file: string): ReadonlyArray<string> => {
  const text = readFileSync(file, "utf8")
  const { comments, program } = parseSync(file, text)
  const ends = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*")).map(({ end }) => end)
  const hasDoc = (start: number) => ends.some((end) => end <= start && text.slice(end, start).trim() === "")
  const exported = program.body.flatMap((node) =>
    node.type === "ExportNamedDeclaration" && node.declaration !== null
      ? namesOf(node.declaration).map((name) => ({ name, has: hasDoc(node.start) }))
      : []
  )
  return exported.map(({ name }) => name).filter((name) => !exported.some((one) => one.name === name && one.has))
}

const namesOf = (declaration: ESTree.Declaration): ReadonlyArray<string> => {
  if (declaration.type === "VariableDeclaration")
    return declaration.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []))
  return "id" in declaration && declaration.id?.type === "Identifier" ? [declaration.id.name] : []
}

it("every public name has a docstring; the fields of options have theirs", () => {
  const found = packages.flatMap((one) =>
    documented(one).flatMap((module) => {
      const file = `${one.folder}/src/${module}.ts`
      return existsSync(file) ? undocumented(file).map((name) => `${one.manifest.name}/${module} ${name}`) : []
    })
  )
  assert.deepStrictEqual(
    found.filter((name) => !name.endsWith("Options")),
    []
  )
})
