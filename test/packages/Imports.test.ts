import { globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { assert, describe, it } from "vitest"
import { published, root } from "./support/Workspace.ts"

/** A file without its comments. */
const sourceOf = (file: string): string => readFileSync(file, "utf8").replaceAll(/\/\*.*?\*\//gsu, "")

/** What a source imports, when it is loaded or later, types included. */
const specifiersIn = (source: string): ReadonlyArray<string> =>
  [...source.matchAll(/^(?:import|export)\s(?:[^"]*? from )?"([^"]+)"|\bimport\("([^"]+)"\)/gmu)].map(
    ([, early, late]) => early ?? late ?? ""
  )

/** The file of this repository that a specifier names; undefined where another has it. */
const resolve = (file: string, specifier: string): string | undefined => {
  if (specifier.startsWith(".")) return join(dirname(file), specifier)
  const [scope, name, ...module] = specifier.split("/")
  const own = published.find((one) => scope === "@inspo" && one.name === name)
  return own === undefined ? undefined : join(own.folder, "src", `${module.join("/") || "index"}.ts`)
}

/** One circle of a graph, each node importing the next and the last the first; empty where there is none. */
const circleIn = (graph: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<string> => {
  const done = new Set<string>()
  const visit = (node: string, path: ReadonlyArray<string>): ReadonlyArray<string> => {
    if (path.includes(node)) return path.slice(path.indexOf(node))
    if (done.has(node)) return []
    for (const next of graph.get(node) ?? []) {
      const circle = visit(next, [...path, node])
      if (circle.length > 0) return circle
    }
    done.add(node)
    return []
  }
  return [...graph.keys()].reduce<ReadonlyArray<string>>(
    (found, node) => (found.length > 0 ? found : visit(node, [])),
    []
  )
}

const files = globSync(
  ["packages/*/src/**/*.ts", "{apps,research}/*/src/**/*.ts", "packages/dashboard/page/**/*.{ts,tsx}"],
  {
    cwd: root
  }
).map((file) => join(root, file))

describe("the imports of the sources", () => {
  it("never lead in a circle, not even by types and by what is loaded later", () => {
    const graph = new Map(
      files.map((file) => [
        relative(root, file),
        specifiersIn(sourceOf(file)).flatMap((specifier) => {
          const target = resolve(file, specifier)
          return target === undefined ? [] : [relative(root, target)]
        })
      ])
    )
    assert.isAbove(graph.size, 500)
    const unknown = [...graph].flatMap(([file, targets]) =>
      targets.filter((one) => /\.tsx?$/u.test(one) && !graph.has(one)).map((one) => `${file}: ${one}`)
    )
    assert.isEmpty(unknown)
    assert.isEmpty(circleIn(graph))
  })

  it("are seen where they are types, or are loaded later", () => {
    const sources = {
      a: 'import {\n  b\n} from "b"',
      b: 'export type { C } from "c"',
      c: 'const later = () => import("a")'
    }
    const graph = new Map(Object.entries(sources).map(([name, source]) => [name, specifiersIn(source)]))
    assert.deepStrictEqual(circleIn(graph), ["a", "b", "c"])
    assert.isEmpty(circleIn(graph.set("c", [])))
  })
})

describe("an app", () => {
  it("is imported by nothing outside it", () => {
    const placeOf = (file: string) => /^apps\/\w+\//u.exec(relative(root, file))?.[0]
    const foreign = files.flatMap((file) =>
      specifiersIn(sourceOf(file)).flatMap((specifier) => {
        const app = placeOf(resolve(file, specifier) ?? "")
        return app === undefined || app === placeOf(file) ? [] : [relative(root, file)]
      })
    )
    assert.deepStrictEqual(foreign, [])
  })
})

describe("a pure package", () => {
  it("runs no effect: only an entry point starts the runtime", () => {
    const running = files.filter((file) => !file.includes("/page/") && /\bEffect\.runSync\b/u.test(sourceOf(file)))
    assert.deepStrictEqual(
      running.map((file) => relative(root, file)),
      []
    )
  })
})
