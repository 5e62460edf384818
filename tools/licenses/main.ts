/**
 * `pnpm run licenses [SBOM]`: lists what is installed in production with its licence. Exits with 1 where a licence is not
 * allowed, or where the bill of materials in the file SBOM leaves a package out.
 */
import { readFileSync } from "node:fs"
import { text } from "node:stream/consumers"
import { Schema } from "effect"
import { isAllowed, Listed, missingFrom, packagesOf, Sbom } from "./Licenses.ts"

const [sbom] = process.argv.slice(2)
const packages = packagesOf(Schema.decodeSync(Schema.fromJsonString(Listed))(await text(process.stdin)))
const refused = packages.filter(({ license }) => !isAllowed(license))
const missing =
  sbom === undefined
    ? []
    : missingFrom(Schema.decodeSync(Schema.fromJsonString(Sbom))(readFileSync(sbom, "utf8")), packages)

for (const { license, name, version } of packages) process.stdout.write(`${name} ${version}  ${license}\n`)
if (packages.length === 0) process.stderr.write("no package is installed in production, which cannot be\n")
for (const { license, name, version } of refused)
  process.stderr.write(`${name} ${version} is under ${license}, which is not among the licences that are allowed\n`)
for (const { name, version } of missing) process.stderr.write(`${sbom} leaves out ${name} ${version}\n`)
if (packages.length === 0 || refused.length + missing.length > 0) process.exitCode = 1
