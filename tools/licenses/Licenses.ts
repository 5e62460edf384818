/** The production dependencies, in the format of `pnpm licenses list --json`. */
import { Schema } from "effect"

/** Packages by licence, an SPDX expression. */
export const Listed = Schema.Record(
  Schema.String,
  Schema.Array(Schema.Struct({ name: Schema.String, versions: Schema.Array(Schema.String) }))
)

/** What is read of a bill of materials in CycloneDX. */
export const Sbom = Schema.Struct({
  bomFormat: Schema.Literal("CycloneDX"),
  components: Schema.Array(Schema.Struct({ purl: Schema.String }))
})

export interface Package {
  readonly name: string
  readonly version: string
  readonly license: string
}

/** Licences that only require attribution. */
const allowed: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT"
])

/** Every package with its licence, by name. */
export const packagesOf = (listed: typeof Listed.Type): ReadonlyArray<Package> =>
  Object.entries(listed)
    .flatMap(([license, packages]) =>
      packages.flatMap(({ name, versions }) => versions.map((version) => ({ name, version, license })))
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1))

/** Whether an alternative of the licence expression is allowed. Unknown expressions are not. */
export const isAllowed = (license: string): boolean =>
  license
    .replaceAll(/[()]/gu, "")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((one) => allowed.has(one)))

/** The packages that a bill of materials leaves out. */
export const missingFrom = ({ components }: typeof Sbom.Type, packages: ReadonlyArray<Package>) => {
  const listed = new Set(components.map(({ purl }) => decodeURIComponent(purl)))
  return packages.filter(({ name, version }) => !listed.has(`pkg:npm/${name}@${version}`))
}
