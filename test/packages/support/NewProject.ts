import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Finished, run } from "./Process.ts"
import { root } from "./Workspace.ts"

/** Installs packages with npm, ours from a registry, as a user does, into a new project with TypeScript's strict checks. */
export const install = async (folder: string, registry: string, packages: ReadonlyArray<string>): Promise<void> => {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  await writeFile(join(folder, ".npmrc"), `@inspo:registry=${registry}\n`)
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }))
  const npm = [
    "install",
    "--prefer-offline",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel",
    "error",
    ...packages
  ]
  const { code, output } = await run("npm", npm, folder)
  if (code !== 0) throw new Error(`npm ${npm.join(" ")} ended with ${code}:\n${output}`)
}

/** Checks the programs of the project, and writes them as JavaScript into `dist`. */
export const compile = (folder: string): Promise<Finished> =>
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.json"], folder)

/** What `tsc --init` proposes for Node. */
const compilerOptions = {
  module: "nodenext",
  target: "es2023",
  lib: ["es2023"],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
  outDir: "dist",
  types: ["node"],
  typeRoots: [join(root, "node_modules/@types")]
}
