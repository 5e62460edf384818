import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { developed, range } from "./support/EffectRange.ts"
import { published, root } from "./support/Workspace.ts"

/** The targets of the links of a Markdown text, images included. */
const linksIn = (markdown: string): ReadonlyArray<string> =>
  [...markdown.matchAll(/\]\(([^)\s]+)/gu)].map(([, target = ""]) => target)

/** Packages that import nothing of effect. */
const withoutEffect: ReadonlySet<string> = new Set(["client", "report"])

describe("all published packages", () => {
  it("have one version, which has an entry in the changelog", () => {
    const versions = new Set(published.map(({ manifest }) => manifest.version))
    assert.lengthOf([...versions], 1)
    const [, newest] = /^## (\S+)$/mu.exec(readFileSync(join(root, "CHANGELOG.md"), "utf8")) ?? []
    assert.deepStrictEqual([...versions], [newest])
  })

  it("take each effect from the one that they are developed with to the next major version", () => {
    assert.strictEqual(range, `^${developed}`)
    for (const { manifest, name } of published) {
      const { dependencies, devDependencies, peerDependencies } = manifest
      // A program brings effect with it; a library takes that of its user.
      const asked = name === "cli" ? dependencies : peerDependencies
      if (!withoutEffect.has(name)) assert.strictEqual(asked?.["effect"], "catalog:peer", name)
      assert.include([undefined, "catalog:"], devDependencies?.["effect"], name)
    }
  })
})

describe("docs/release.md", () => {
  it("promises something of each package", () => {
    const page = readFileSync(join(root, "docs/release.md"), "utf8")
    const rows = [...page.matchAll(/^\| (.*?) +\| (?:stable|settling|internal) +\|$/gmu)]
    const named = rows.flatMap(([, packages = ""]) => [...packages.matchAll(/`([\w-]+)`/gu)].map(([, name]) => name))
    assert.sameMembers(
      named,
      published.map(({ name }) => name)
    )
  })
})

for (const { manifest, name, readme } of published)
  describe(`@inspo/${name} on npm`, () => {
    it("has keywords, and is described in one sentence", () => {
      const { description = "", keywords = [] } = manifest
      assert.isAtLeast(keywords.length, 4)
      assert.deepStrictEqual(keywords, [...new Set(keywords)].toSorted())
      for (const keyword of keywords) assert.match(keyword, /^[a-z][a-z\d-]*$/u)
      assert.match(description, /^[A-Z9].{20,118}[^.]$/u)
    })

    it("has a README that links nothing outside the package, and names pages that exist", () => {
      for (const link of linksIn(readme)) assert.match(link, /^(?:https:|#)/u)
      for (const [, page = ""] of readme.matchAll(/(?<![/\w])(docs\/[\w/.-]+\w)/gu))
        assert.isTrue(existsSync(join(root, page)), page)
    })
  })
