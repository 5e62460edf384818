import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../../apps/cli/src/main.ts", import.meta.url))

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const alive = new Set<ChildProcess>()

/** Ends the programs that a failed test left running. */
export const endAll = (): void => {
  for (const child of alive) child.kill("SIGKILL")
}

/** Runs the real command line in `cwd`; `interruptWhen` watches what it writes and may ask for Ctrl-C. */
export const inspo = (
  args: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly interruptWhen?: (stdout: string) => boolean }
): Promise<Finished> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], { cwd: options.cwd, stdio: ["ignore", "pipe", "pipe"] })
    alive.add(child)
    let stdout = ""
    let stderr = ""
    let interrupted = false
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString()
      if (!interrupted && options.interruptWhen?.(stdout) === true) {
        interrupted = true
        child.kill("SIGINT")
      }
    })
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
    child.on("error", reject)
    child.on("close", (code) => {
      alive.delete(child)
      resolve({ code, stdout, stderr })
    })
  })
