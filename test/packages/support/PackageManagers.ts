import { mkdir, writeFile } from "node:fs/promises"
import { delimiter, dirname, join } from "node:path"
import { run } from "./Process.ts"
import { bun, deno, obtain } from "./Runtimes.ts"

/** A program that installs packages; `problem` says why it is not available, or is null. */
export interface PackageManager {
  readonly name: string
  /** What it is called by, in `folder`. */
  readonly command: string
  readonly folder: string
  /** Runs the program of a project. */
  readonly start: string
  readonly problem: string | null
}

/** npm as it is on this machine, and the others at pinned versions, out of their npm packages. */
export const find = async (): Promise<ReadonlyArray<PackageManager>> => {
  const found: Array<PackageManager> = []
  for (const { command, name, spec, start } of known) {
    const print = ["sh", "-c", `command -v ${command}`]
    const { path, problem } = spec === null ? onPath : await obtain(spec, print)
    found.push({ name, command, start, folder: dirname(path), problem })
  }
  return found
}

export interface Trial {
  /** Holds the project, and the caches of the package managers. */
  readonly folder: string
  /** Commands that install what the program imports. */
  readonly script: string
  readonly program: string
  readonly registry: string
}

/** Installs packages in a new project, with the settings of a new user, and runs a program there. Returns what it prints. */
export const tryOut = async (manager: PackageManager, trial: Trial): Promise<string> => {
  const project = join(trial.folder, "project")
  await mkdir(project, { recursive: true })
  for (const [name, text] of Object.entries(filesOf(trial))) await writeFile(join(project, name), text)
  const env = environment(manager, trial.folder)
  const installed = await run("sh", ["-ec", trial.script], project, env)
  if (installed.code !== 0) throw new Error(`${trial.script} ended with ${installed.code}:\n${installed.output}`)
  const { code, output, stdout } = await run("sh", ["-ec", manager.start], project, env)
  if (code !== 0) throw new Error(`${manager.start} ended with ${code}:\n${output}`)
  return stdout
}

const known = [
  { name: "npm", spec: null, command: "npm", start: "node program.js" },
  { name: "pnpm", spec: "pnpm@12", command: "pnpm", start: "node program.js" },
  { name: "Yarn", spec: "@yarnpkg/cli-dist@4.18.1", command: "yarn", start: "yarn node program.js" },
  { name: "Bun", spec: bun, command: "bun", start: "bun program.js" },
  { name: "Deno", spec: deno, command: "deno", start: "deno run --allow-all program.js" }
]

/** It is found without another folder. */
const onPath = { path: process.execPath, problem: null }

/** Yarn, Deno and pnpm refuse versions that are younger than a day, as all are that a test publishes. */
const filesOf = ({ program, registry }: Trial): Readonly<Record<string, string>> => ({
  "package.json": JSON.stringify({ private: true, type: "module" }),
  ".npmrc": `registry=${registry}\n`,
  ".yarnrc.yml": JSON.stringify({
    enableImmutableInstalls: false,
    enableTelemetry: false,
    npmMinimalAgeGate: 0,
    npmRegistryServer: registry,
    unsafeHttpWhitelist: [new URL(registry).hostname]
  }),
  "deno.json": JSON.stringify({ minimumDependencyAge: 0 }),
  "program.js": program
})

const environment = ({ folder }: PackageManager, home: string): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:p?npm_config|xdg|yarn|bun|deno)_/iu.test(name))
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    NO_COLOR: "1",
    PATH: [folder, dirname(process.execPath), process.env["PATH"]].join(delimiter),
    PNPM_CONFIG_MINIMUM_RELEASE_AGE: "0"
  }
}
