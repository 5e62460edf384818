import { globSync, readFileSync } from "node:fs"
import { join, matchesGlob } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { proseOf } from "./Prose.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** What keeps to plain words, as globs: documents, and the comments and texts of sources. */
const covered = [
  "*.md",
  "{apps,clients,deploy,docs,examples,packages,research,test}/**/*.md",
  "{apps,packages,research}/*/src/**/*.{ts,tsx}",
  "packages/dashboard/page/**/*.{ts,tsx}",
  "clients/python/src/**/*.py",
  "tools/**/*.{ts,mjs}"
]

/** A clause of an experiment with published results, which cannot change. */
const exempt = "Tell a story about the person."

/** Sources whose texts are data: templates of generated questions, and prompts of agents. */
const data: ReadonlyArray<string> = [
  "packages/datasets/src/internal/templates.ts",
  "packages/rollout/src/agents/SearchO1.ts"
]

/** Words that are avoided, each with what to write instead. */
const replacements: Readonly<Record<string, string>> = {
  mend: "fix",
  mends: "fixes",
  mended: "fixed",
  mending: "fixing",
  tell: "report, show, name or distinguish",
  tells: "reports, shows, names or distinguishes",
  told: "reported, shown, named or distinguished",
  whoever: "anyone who, or the name of the role",
  whomever: "anyone whom, or the name of the role",
  "be had": "be available",
  "as it stands": "as it is, or unchanged",
  "it stands": "it is",
  stands: "is",
  lies: "is",
  anew: "again",
  likewise: "also"
}

// The longest first, so that a phrase is found before a word of it.
const words = Object.keys(replacements).sort((a, b) => b.length - a.length)
const avoided = new RegExp(`\\b(?:${words.join("|").replaceAll(" ", "\\s+")})\\b`, "giu")

/** The avoided words of a file, each with its line and its replacement. */
const faults = (file: string, text: string): ReadonlyArray<string> => {
  const prose = proseOf(file, text).replaceAll(exempt, "")
  return [...prose.matchAll(avoided)].map(({ 0: found, index }) => {
    const word = found.replaceAll(/\s+/gu, " ")
    const line = prose.slice(0, index).split("\n").length
    return `${file}:${line}: "${word}": write ${replacements[word.toLowerCase()]}`
  })
}

describe("the documents and the sources", () => {
  it.each(covered)("use plain words: %s", (glob) => {
    const files = globSync(glob, { cwd: root, exclude: ["**/node_modules/**", "**/dist/**"] }).sort()
    assert.isNotEmpty(files)
    const revised = files.filter((file) => !data.some((one) => matchesGlob(file, one)))
    assert.deepStrictEqual(
      revised.flatMap((file) => faults(file, readFileSync(join(root, file), "utf8"))),
      []
    )
  })

  it("are searched where they are prose, and nowhere else: Markdown", () => {
    const page = [
      "# It stands for `tell`",
      "<!-- told -->",
      "```sh",
      "echo tells",
      "```",
      "[It lies, as it",
      "stands](lies.md) ``a ` mend`` at <https://mend.example/told>, and foretold."
    ]
    assert.deepStrictEqual(faults("page.md", page.join("\n")), [
      'page.md:1: "It stands": write it is',
      'page.md:6: "lies": write is',
      'page.md:6: "as it stands": write as it is, or unchanged'
    ])
  })

  it("are searched where they are prose, and nowhere else: TypeScript", () => {
    const source = [
      "/** As it",
      " * stands, not `told`. */",
      "const told = `anew ${tell(`mend ${lies}`)} // likewise`",
      'const element = <b title="whoever">it lies {told}</b> // tells'
    ]
    assert.deepStrictEqual(
      faults("source.tsx", source.join("\n")).map((fault) => fault.slice(0, fault.lastIndexOf(":"))),
      [
        'source.tsx:1: "As it stands"',
        'source.tsx:3: "anew"',
        'source.tsx:3: "mend"',
        'source.tsx:3: "likewise"',
        'source.tsx:4: "whoever"',
        'source.tsx:4: "lies"',
        'source.tsx:4: "tells"'
      ]
    )
  })

  it("are searched where they are prose, and nowhere else: Python", () => {
    const source = ['"""It', 'stands."""', "told = 'no # mend' + lies  # tells", 'f"{told} \\" anew"']
    assert.deepStrictEqual(
      faults("source.py", source.join("\n")).map((fault) => fault.slice(0, fault.lastIndexOf(":"))),
      [
        'source.py:1: "It stands"',
        'source.py:3: "mend"',
        'source.py:3: "tells"',
        'source.py:4: "told"',
        'source.py:4: "anew"'
      ]
    )
  })
})
