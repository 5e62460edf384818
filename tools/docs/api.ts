/** Renews what depends on the API: the exports of the packages, and, with `report`, the report of what was built. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { exportsOf } from "../../test/packages/support/Exports.ts"
import { packages } from "../../test/packages/support/Workspace.ts"
import { file, report } from "./apiReport.ts"

if (process.argv.includes("report")) writeFileSync(file, report())
else
  for (const one of packages) {
    const path = join(one.folder, "package.json")
    const manifest = JSON.parse(readFileSync(path, "utf8"))
    const { exports, publishConfig } = exportsOf(one)
    const renewed = { ...manifest, exports, publishConfig: { ...manifest.publishConfig, ...publishConfig } }
    writeFileSync(path, `${JSON.stringify(renewed, null, 2)}\n`)
  }
