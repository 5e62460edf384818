/** Checks that docs/compatibility.md tells what was run; with `--update`, writes it. */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { rows } from "./support/Foreign.ts"

const page = fileURLToPath(new URL("../../docs/compatibility.md", import.meta.url))

const text = `# Run against

What inspo claims to work with is run against it, at these versions, by \`bash test/compatibility/run\`, which also checks this page.

| software | package and version | what was run |
| --- | --- | --- |
${rows()
  .map(({ package: name, software, version, what }) => `| ${software} | \`${name}\` ${version} | ${what} |`)
  .join("\n")}
`

/** Tables are compared by their cells: the formatter pads them. */
const cells = (markdown: string): string => markdown.replaceAll(/-{3,}/gu, "---").replaceAll(/[ \t]+/gu, " ")

if (process.argv.includes("--update")) writeFileSync(page, text)
else if (cells(readFileSync(page, "utf8")) !== cells(text)) {
  process.stderr.write(`docs/compatibility.md does not tell what was run. It should read:\n\n${text}\n`)
  process.exitCode = 1
}
