/** What packages export: the modules that users may import, and those that other packages of the workspace do. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { documented, modules, type Package, root } from "./Workspace.ts"

export interface Exports {
  readonly exports: Readonly<Record<string, string>>
  readonly publishConfig: { readonly exports: Readonly<Record<string, string>> }
}

/** The exports of a package, in the repository and on npm. */
export const exportsOf = (one: Package): Exports => {
  const promised = documented(one)
  const open = modules(one).filter((module) => promised.includes(module) || asked.has(`${one.manifest.name}/${module}`))
  const map = (folder: string, ending: string) => {
    const entry = (module: string) => `./${folder}/${module}.${ending}`
    return Object.fromEntries([
      ...(open.includes("index") ? [[".", entry("index")]] : []),
      ["./package.json", "./package.json"],
      ...open.filter((module) => module !== "index").map((module) => [`./${module}`, entry(module)])
    ])
  }
  return { exports: map("src", "ts"), publishConfig: { exports: map("dist", "js") } }
}

const files = globSync(
  ["{packages,apps,research}/*/{src,cli,page,test,bench,rivals,model}/**/*.{ts,tsx}", "{examples,test,tools}/**/*.ts"],
  { cwd: root, exclude: (name) => name === "node_modules" }
)

/** Comments do not count. */
const importsIn = (source: string): ReadonlyArray<string> =>
  [...source.replaceAll(/\/\*.*?\*\//gsu, "").matchAll(/(?:from |\bimport\()"(@inspo\/[^"]+)"/gu)].map(
    ([, specifier = ""]) => specifier
  )

const asked = new Set(files.flatMap((file) => importsIn(readFileSync(join(root, file), "utf8"))))
