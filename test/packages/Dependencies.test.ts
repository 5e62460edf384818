import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { parse } from "yaml"
import { isAllowed, missingFrom, packagesOf } from "../../tools/licenses/Licenses.ts"
import { installedWith, published, root } from "./support/Workspace.ts"

const read = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, file: string): S["Type"] =>
  Schema.decodeUnknownSync(schema)(parse(readFileSync(join(root, file), "utf8")))

const { catalog } = read(Schema.Struct({ catalog: Schema.Record(Schema.String, Schema.String) }), "pnpm-workspace.yaml")
const lock = read(
  Schema.Struct({
    packages: Schema.Record(
      Schema.String,
      Schema.Struct({ peerDependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)) })
    )
  }),
  "pnpm-lock.yaml"
)

/** Companions of effect that are not published at each of its versions: the newest that are, and each takes ours. */
const behind: ReadonlySet<string> = new Set(["@effect/sql-pg", "@effect/vitest"])

describe("what is installed", () => {
  it("holds effect once, and its companions at its version or at their newest", () => {
    const installed = Object.keys(lock.packages)
    assert.deepStrictEqual(
      installed.filter((name) => name.startsWith("effect@")),
      [`effect@${catalog["effect"]}`]
    )
    const [major = "", minor = ""] = catalog["effect"]?.split(".") ?? []
    for (const one of installed.filter((name) => /^@effect\/(?!tsgo)/u.test(name))) {
      const [, name = "", version = ""] = /^(@effect\/[^@]+)@(.+)$/u.exec(one) ?? []
      if (!behind.has(name)) assert.strictEqual(version, catalog["effect"], name)
      const [, range = ""] = /^\^(\d+\.\d+)\.\d+$/u.exec(lock.packages[one]?.peerDependencies?.["effect"] ?? "") ?? []
      const [wantedMajor, wantedMinor = Infinity] = range.split(".")
      assert.isTrue(wantedMajor === major && Number(wantedMinor) <= Number(minor), `${one} takes effect ${range}`)
    }
  })

  it("holds no client of Redis, which nothing here speaks to", () => {
    assert.isEmpty(Object.keys(lock.packages).filter((name) => /^(?:io|@)?redis[@/]/u.test(name)))
  })
})

/** What a new user of `evolve()` installs besides effect and the packages of inspo. */
const evolveNeeds = ["csv-parse", "diff", "jstat", "re2js", "simple-statistics"]

describe("the instruction server", () => {
  it("installs no run, no agent and no engine", () => {
    const forbidden = [...installedWith("serve")].filter((name) =>
      /^(?:coevolution|rollout|engine(?:-.+)?)$/u.test(name)
    )
    assert.isEmpty(forbidden)
  })
})

describe("a search", () => {
  it("installs no database, no engine and nothing native", () => {
    const needed = published
      .filter(({ name }) => installedWith("evolve").has(name))
      .flatMap(({ manifest }) => Object.keys(manifest.dependencies ?? {}))
      .filter((name) => !name.startsWith("@inspo/"))
    assert.deepStrictEqual([...new Set(needed)].toSorted(), evolveNeeds)
  })
})

describe("the licence list", () => {
  const listed = packagesOf({
    MIT: [{ name: "b", versions: ["1.0.0", "2.0.0"] }],
    "GPL-3.0-only": [{ name: "@a/a", versions: ["1.0.0"] }]
  })

  it("allows what may be taken under licences that are allowed alone", () => {
    for (const license of ["MIT", "(MIT OR GPL-3.0-only)", "(Apache-2.0 AND BSD-3-Clause)"])
      assert.isTrue(isAllowed(license), license)
    for (const license of ["GPL-3.0-only", "(MIT AND GPL-3.0-only)", "Unknown", ""])
      assert.isFalse(isAllowed(license), license)
  })

  it("names each version that a bill of materials leaves out", () => {
    const components = [{ purl: "pkg:npm/%40a/a@1.0.0" }, { purl: "pkg:npm/b@2.0.0" }]
    assert.deepStrictEqual(
      missingFrom({ bomFormat: "CycloneDX", components }, listed).map(({ name, version }) => `${name} ${version}`),
      ["b 1.0.0"]
    )
  })
})
