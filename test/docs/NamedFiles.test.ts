import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), "utf8")

/** A file that a page names, what the page says that it declares, and the folders that its path may be relative to. */
interface Named {
  readonly file: string
  readonly names: ReadonlyArray<string>
  readonly folders: ReadonlyArray<string>
}

/** What is wrong with a named file; null if it is there and declares its names. */
const fault = ({ file, folders, names }: Named): string | null => {
  const found = folders.map((folder) => join(folder, file)).find((path) => existsSync(join(root, path)))
  if (found === undefined) return `${file}: not in ${folders.join(", ")}`
  const text = names.length === 0 ? "" : read(found)
  const missing = names.filter(
    (name) => !new RegExp(`(const|class|function|interface|type) ${name}\\b`, "u").test(text)
  )
  return missing.length === 0 ? null : `${found}: declares no ${missing.join(", ")}`
}

const faults = (named: ReadonlyArray<Named>): ReadonlyArray<string> => named.map(fault).filter((text) => text !== null)

const namesIn = (text: string): ReadonlyArray<string> => [...text.matchAll(/`(\w+)`/gu)].map(([, name = ""]) => name)

/** The files of a table. A bare name is next to the file before it. */
const ofTable = (page: string, folders: ReadonlyArray<string>): ReadonlyArray<Named> =>
  [...page.matchAll(/^\|.*$/gmu)].flatMap(([row]) => {
    let last = "."
    return [...row.matchAll(/`([\w./-]+\.(?:ts|tsx|py))`((?:, `\w+`(?!\.))*)/gu)].map(([, file = "", names = ""]) => {
      const own = file.includes("/") ? folders : [...folders, ...folders.map((folder) => join(folder, last))]
      if (file.includes("/")) last = dirname(file)
      return { file, names: namesIn(names), folders: own }
    })
  })

const pages = globSync(["*.md", "{docs,examples,packages,apps,clients,research}/**/*.md"], {
  cwd: root,
  exclude: ["**/node_modules/**", "**/dist/**"]
}).sort()

describe("files that pages name", () => {
  it("of docs/algorithm.md are there and declare the names beside them", () => {
    const named = ofTable(read("docs/algorithm.md"), ["packages", ".", "test/laws"])
    assert.isAtLeast(named.filter(({ names }) => names.length > 0).length, 40)
    assert.deepStrictEqual(faults(named), [])
  })

  it.each(pages)("are there: %s", (page) => {
    const named = [
      ...read(page).matchAll(/`((?:packages|apps|test|tools|docs|examples|clients|research)\/[\w./-]+\.\w+)`/gu)
    ]
    assert.deepStrictEqual(
      faults(named.map(([, file = ""]) => ({ file, names: [], folders: [".", dirname(page)] }))),
      []
    )
  })

  it("are missed where they moved", () => {
    assert.deepStrictEqual(faults(ofTable("| `sampler/src/Sampler.ts`, `drawEach`; `Gone.ts` |", ["packages"])), [
      "packages/sampler/src/Sampler.ts: declares no drawEach",
      "Gone.ts: not in packages, packages/sampler/src"
    ])
  })
})
