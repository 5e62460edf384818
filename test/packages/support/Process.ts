import { execFileSync, spawn } from "node:child_process"
import { delimiter, join } from "node:path"

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  /** What it wrote on both streams. */
  readonly output: string
}

/** Runs a program to its end. */
export const run = (
  program: string,
  args: ReadonlyArray<string>,
  cwd: string,
  env: NodeJS.ProcessEnv = process.env
): Promise<Finished> =>
  new Promise((resolve, reject) => {
    // On Windows npm and npx are scripts, which only a shell starts.
    const shell = process.platform === "win32" && (program === "npm" || program === "npx")
    const child = spawn(program, args, { cwd, env, shell, stdio: ["ignore", "pipe", "pipe"] })
    let stdout = ""
    let output = ""
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString()
      output += chunk.toString()
    })
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()))
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, stdout, output }))
  })

/** The first Node of a major version on the PATH, or undefined. */
export const findNode = (major: number): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "node"))
    .find((program) => {
      try {
        return execFileSync(program, ["--version"], { encoding: "utf8", stdio: "pipe" }).startsWith(`v${major}.`)
      } catch {
        return false
      }
    })
