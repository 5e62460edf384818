import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { parse } from "yaml"
import { root } from "./support/Workspace.ts"

const read = (path: string) => readFileSync(join(root, path), "utf8")
const Lockfile = Schema.Struct({ packages: Schema.Record(Schema.String, Schema.Unknown) })
const Manifest = Schema.fromJsonString(Schema.Struct({ overrides: Schema.Record(Schema.String, Schema.String) }))

describe("the image", () => {
  it("is installed with the versions of the lockfile, those of dependencies of dependencies among them", () => {
    const { packages } = Schema.decodeUnknownSync(Lockfile)(parse(read("pnpm-lock.yaml")))
    const named = Object.keys(packages).map((id) => {
      const at = id.lastIndexOf("@")
      return [id.slice(0, at), id.slice(at + 1)] as const
    })
    const versions = Map.groupBy(named, ([name]) => name)
    const { overrides } = Schema.decodeSync(Manifest)(
      execFileSync(process.execPath, [join(root, "deploy/overrides.mjs")], { encoding: "utf8" })
    )
    const several = [...versions].flatMap(([name, { length }]) => (length > 1 ? [name] : []))
    // Of code, only what the documentation site and the tests bring in different versions: none of it is in the image.
    for (const name of several)
      assert.match(
        name,
        /^@types\/|-types$|^(?:cjs-module-lexer|es-module-lexer|estree-walker|magic-string|typescript)$/u,
        "is no code"
      )
    assert.deepStrictEqual(overrides, Object.fromEntries(named.filter(([name]) => !several.includes(name))))
  })

  it("installs nothing that the lockfile does not pin, on a base that can be given by digest", () => {
    const file = read("deploy/Containerfile")
    for (const install of file.matchAll(/^.*npm install.*$/gmu)) assert.include(install[0], "--legacy-peer-deps")
    assert.include(file, "deploy/overrides.mjs")
    for (const [, image] of file.matchAll(/^FROM (\S+)/gmu)) assert.strictEqual(image, "$NODE_IMAGE")
  })
})
