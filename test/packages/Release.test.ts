import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Changelog from "../../tools/release/Changelog.ts"
import { published as publishedIn } from "../../tools/release/Packages.ts"
import { refusal } from "../../tools/release/Refusal.ts"
import * as Versions from "../../tools/release/Versions.ts"
import { published, root } from "./support/Workspace.ts"

describe("a release", () => {
  it("is of all that is published", () => {
    assert.sameMembers(
      publishedIn(root).map(({ folder }) => folder),
      published.map(({ folder }) => folder)
    )
  })

  it("is refused where it would publish what is not committed, or a rehearsal anywhere but here", () => {
    const request = { registry: "https://registry.example/", dryRun: false, pending: 0, edited: false }
    assert.isUndefined(refusal(request))
    assert.isUndefined(refusal({ ...request, registry: undefined, pending: 1, edited: true }))
    assert.isUndefined(refusal({ ...request, registry: "http://127.0.0.1:4873", dryRun: true, edited: true }))
    assert.include(refusal({ ...request, dryRun: true }), "registry.example")
    assert.include(refusal({ ...request, registry: "here" }), '"here"')
    assert.include(refusal({ ...request, pending: 2 }), "2 changesets")
    assert.include(refusal({ ...request, edited: true }), "commit")
  })
})

describe("the changelog", () => {
  const changes = [
    { summary: "A fix.\n", releases: [{ type: "patch" }] },
    { summary: "A flag\nof two lines.", releases: [{ type: "patch" }, { type: "minor" }] },
    { summary: "Breaking: Another name.", releases: [{ type: "minor" }] }
  ]

  it("gets an entry above those of earlier versions, grouped by the kind of each change", () => {
    assert.strictEqual(
      Changelog.add("# Changelog\n\n## 0.1.0\n\nThe first.\n", "0.2.0", changes),
      "# Changelog\n\n## 0.2.0\n\n### What you must change\n\n- Another name.\n\n### New and changed\n\n- A flag\n  of two lines.\n\n### Fixed\n\n- A fix.\n\n" +
        "## 0.1.0\n\nThe first.\n"
    )
  })

  it("gets its first entry at its end", () => {
    assert.strictEqual(
      Changelog.add("# Changelog\n", "0.1.0", changes.slice(0, 1)),
      "# Changelog\n\n## 0.1.0\n\n### Fixed\n\n- A fix.\n\n"
    )
  })
})

describe("a changeset, with the settings of this repository", () => {
  let folder = ""

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "inspo-release-"))
    const others = ["examples", "test", "tools", "research/pretrain", "research/studies"].map((name) =>
      join(root, name)
    )
    for (const from of [root, ...others, ...published.map((one) => one.folder)]) {
      const to = join(folder, relative(root, from))
      await mkdir(to, { recursive: true })
      await cp(join(from, "package.json"), join(to, "package.json"))
    }
    for (const name of [".changeset/config.json", "CHANGELOG.md", "pnpm-workspace.yaml"])
      await cp(join(root, name), join(folder, name))
    await symlink(join(root, "node_modules"), join(folder, "node_modules"))
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  it("raises the version of every published package, and of no other, and becomes an entry of the changelog", async () => {
    const [first] = published
    await writeFile(
      join(folder, ".changeset/new-flag.md"),
      `---\n"${first?.manifest.name}": minor\n---\n\nA new flag.\n`
    )
    const changes = await Versions.pending(folder)
    assert.deepStrictEqual(
      changes.map(({ summary }) => summary),
      ["A new flag."]
    )
    const version = await Versions.apply(folder, changes)
    assert.notStrictEqual(version, first?.manifest.version)
    assert.deepStrictEqual([...new Set(publishedIn(folder).map((one) => one.version))], [version])
    const ofExamples = await readFile(join(folder, "examples/package.json"), "utf8")
    assert.strictEqual(ofExamples, await readFile(join(root, "examples/package.json"), "utf8"))
    assert.include(
      await readFile(join(folder, "CHANGELOG.md"), "utf8"),
      `## ${version}\n\n### New and changed\n\n- A new flag.\n\n## ${first?.manifest.version}\n`
    )
    assert.deepStrictEqual(await readdir(join(folder, ".changeset")), ["config.json"])
    assert.notInclude(await readdir(join(folder, "packages/domain")), "CHANGELOG.md")
  })
})
