/** Programs for packages of `packages.txt`, checked and run where they find them. */
import { execFile } from "node:child_process"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert } from "vitest"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const run = promisify(execFile)

/** Fails with what the compiler reports of the files of a folder, under the repository's strict options. */
export const assertTypes = async (folder: string, files: ReadonlyArray<string>): Promise<void> => {
  const config = {
    extends: join(root, "tsconfig.base.json"),
    compilerOptions: {
      composite: false,
      incremental: false,
      declarationMap: false,
      noEmit: true,
      typeRoots: [join(root, "node_modules/@types")]
    },
    files
  }
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config))
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  const output = await run(process.execPath, [tsc, "-p", join(folder, "tsconfig.json")]).then(
    () => "",
    (error: unknown) => String(typeof error === "object" && error !== null && "stdout" in error ? error.stdout : error)
  )
  // What the packages' own sources do does not matter to a program.
  assert.deepStrictEqual(
    output.split("\n").filter((line) => line !== "" && !line.startsWith("packages/") && !line.startsWith(" ")),
    []
  )
}
