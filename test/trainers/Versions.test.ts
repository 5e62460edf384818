import { readFile } from "node:fs/promises"
import { assert, it } from "vitest"
import * as World from "./support/World.ts"

const requirements = new URL("../compatibility/requirements.txt", import.meta.url)

it("the how-to names the versions that are run", async () => {
  const installed = (await readFile(requirements, "utf8")).split("\n")
  const rows = [...(await readFile(World.guide, "utf8")).matchAll(/^\| \[([\w-]+).*?\]\(#.*?\) +\| ([\d.]+) /gmu)]
  assert.isNotEmpty(rows)
  for (const [, name = "", version = ""] of rows) assert.include(installed, `${name.toLowerCase()}==${version}`)
})
