/**
 * `node tools/prices/main.ts [VERSION DATE]`: writes the prices that inspo ships, by default of the pinned release of litellm.
 * It needs `python3` with pip. A newer release is pinned below.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Schema } from "effect"
import { moduleOf, Table } from "./Snapshot.ts"

const pinned = { version: "1.110.2", date: "2026-11-28" }

const [version = pinned.version, date = pinned.date] = process.argv.slice(2)
const directory = mkdtempSync(join(tmpdir(), "inspo-prices-"))
const python = (...args: ReadonlyArray<string>) =>
  execFileSync("python3", ["-m", ...args], { cwd: directory, stdio: ["ignore", "ignore", "inherit"] })
try {
  python("pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", `litellm==${version}`)
  const [wheel = ""] = readdirSync(directory)
  python("zipfile", "-e", wheel, "wheel")
  const text = readFileSync(join(directory, "wheel/litellm/model_prices_and_context_window_backup.json"), "utf8")
  const table = Schema.decodeSync(Schema.fromJsonString(Table))(text)
  writeFileSync(
    new URL("../../packages/reflection/src/internal/ListedPrices.ts", import.meta.url),
    moduleOf(table, { version, date })
  )
} finally {
  rmSync(directory, { recursive: true })
}
