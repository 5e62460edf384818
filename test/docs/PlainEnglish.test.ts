import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** The documents that keep to plain words, as globs. A page is added when it is revised. */
const covered = [
  "*.md",
  "apps/*/README.md",
  "clients/*/README.md",
  "docs/{algorithm,compatibility,evidence,laws,paper,real-model}.md",
  "docs/{connect-your-gpus,durability,proposer,scale,security,trackers}.md",
  "docs/how-to/*.md",
  "docs/tutorial.md",
  "docs/dashboard/README.md",
  "docs/explanation/*.md",
  "examples/README.md",
  "packages/*/README.md",
  "packages/engine-local/model/README.md",
  "test/compatibility/README.md"
]

/** Words that the documents avoid, each with what to write instead. */
const replacements: Readonly<Record<string, string>> = {
  mend: "fix",
  mended: "fixed",
  tell: "report, show, name or distinguish",
  tells: "reports, shows, names or distinguishes",
  told: "reported, shown, named or distinguished",
  whoever: "anyone who, or the name of the role",
  "be had": "be available",
  "as it stands": "as it is, or unchanged",
  "it stands": "it is",
  stands: "is",
  lies: "is",
  likewise: "also"
}

// The longest first, so that a phrase is found before a word of it.
const words = Object.keys(replacements).sort((a, b) => b.length - a.length)
const avoided = new RegExp(`\\b(?:${words.join("|").replaceAll(" ", "\\s+")})\\b`, "giu")

/** What is no prose: code blocks, comments, code spans, addresses of links, other addresses. */
const notProse = [
  /^ *(```+|~~~+).*?^ *\1/gmsu,
  /<!--.*?-->/gsu,
  /(?<!`)(`+)(?!`)(?:(?!\n\s*\n).)*?(?<!`)\1(?!`)/gsu,
  /(?<=\])\([^)\n]*\)/gu,
  /^\[[^\]\n]+\]: .*$/gmu,
  /https?:[^\s)>]+/gu
]

/** A Markdown text with its prose alone, which is at the lines where it was. */
const proseOf = (markdown: string): string =>
  notProse.reduce((text, one) => text.replaceAll(one, (found) => ` ${found.replaceAll(/[^\n]/gu, "")} `), markdown)

/** The avoided words of a document, each with its line and its replacement. */
const faults = (file: string, markdown: string): ReadonlyArray<string> => {
  const prose = proseOf(markdown)
  return [...prose.matchAll(avoided)].map(({ 0: found, index }) => {
    const word = found.replaceAll(/\s+/gu, " ")
    const line = prose.slice(0, index).split("\n").length
    return `${file}:${line}: "${word}": write ${replacements[word.toLowerCase()]}`
  })
}

describe("the documents", () => {
  it.each(covered)("say it in plain words: %s", (glob) => {
    const files = globSync(glob, { cwd: root }).sort()
    assert.isNotEmpty(files)
    assert.deepStrictEqual(
      files.flatMap((file) => faults(file, readFileSync(join(root, file), "utf8"))),
      []
    )
  })

  it("are searched where they are prose, and nowhere else", () => {
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
})
