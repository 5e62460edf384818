import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { Schema } from "effect"
import { type Package, published } from "./Packages.ts"
import { run } from "./run.ts"

/** A packed package; `integrity` is the SHA-512 by which a registry knows it. */
const Artifact = Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  filename: Schema.String,
  integrity: Schema.String
})
export interface Artifact extends Schema.Schema.Type<typeof Artifact> {}

/** The SHA-256 checksums of the tarballs, as `sha256sum --check` reads them. */
export const checksums = "SHA256SUMS"

/** The bill of materials, in CycloneDX. */
export const sbom = "sbom.cdx.json"

/** Where package managers find each package, for projects that install the tarballs. */
export const overrides = "overrides.json"

/** Builds and packs the published packages into a folder, in place of earlier tarballs. Returns each after those that it depends on. */
export const make = async (root: string, folder: string): Promise<ReadonlyArray<Artifact>> => {
  const packages = published(root)
  for (const one of packages) await clean(one)
  await run("pnpm", ["run", "build"], root)
  await mkdir(folder, { recursive: true })
  for (const earlier of await readdir(folder)) if (earlier.endsWith(".tgz")) await rm(join(folder, earlier))
  const filters = packages.flatMap(({ name }) => ["--filter", name])
  const packed = await run("pnpm", ["-r", ...filters, "pack", "--json", "--pack-destination", folder], root)
  const artifacts = decode(packed)
  await writeFile(join(folder, checksums), (await Promise.all(artifacts.map(checksum))).join(""))
  const paths = Object.fromEntries(artifacts.map(({ filename, name }) => [name, `file:${filename}`]))
  await writeFile(join(folder, overrides), `${JSON.stringify(paths, null, 2)}\n`)
  await run("pnpm", ["run", "sbom"], root)
  await copyFile(join(root, sbom), join(folder, sbom))
  return artifacts
}

/** Removes what was built, so that no module that was removed is packed. The page of the dashboard may be served just now. */
const clean = async ({ folder }: Package) => {
  const dist = join(folder, "dist")
  const built = existsSync(dist) ? await readdir(dist) : []
  for (const entry of built.filter((name) => name !== "page")) await rm(join(dist, entry), { recursive: true })
  await rm(join(folder, "tsconfig.build.tsbuildinfo"), { force: true })
}

const decode = Schema.decodeSync(Schema.fromJsonString(Schema.Array(Artifact)))

const checksum = async ({ filename }: Artifact): Promise<string> =>
  `${createHash("sha256")
    .update(await readFile(filename))
    .digest("hex")}  ${basename(filename)}\n`
