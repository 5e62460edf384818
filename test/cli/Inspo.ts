import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { assert } from "vitest"

export const main = fileURLToPath(new URL("../../apps/cli/src/main.ts", import.meta.url))

/** Milliseconds for a run of a few seconds, which takes minutes on a machine that is busy with other things. */
export const testTimeout = 240_000

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

/**
 * Runs the real command line in `cwd`; `interruptWhen` watches what it writes and may ask for Ctrl-C, nobody reads on
 * after `closeWhen`, as with `| head`, and `env` joins the environment.
 */
export const inspo = (
  args: ReadonlyArray<string>,
  options: {
    readonly cwd: string
    readonly interruptWhen?: (stdout: string) => boolean
    readonly closeWhen?: (stdout: string) => boolean
    readonly env?: Readonly<Record<string, string>>
  }
): Promise<Finished> =>
  new Promise((resolve, reject) => {
    const child = start(args, options.cwd, options.env)
    let stdout = ""
    let stderr = ""
    let interrupted = false
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString()
      if (!interrupted && options.interruptWhen?.(stdout) === true) {
        interrupted = true
        child.kill("SIGINT")
      }
      if (options.closeWhen?.(stdout) === true) child.stdout.destroy()
    })
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
    child.on("error", reject)
    child.on("close", (code) => {
      resolve({ code, stdout, stderr })
    })
  })

/** Starts the real command line in `cwd`. */
export const start = (args: ReadonlyArray<string>, cwd: string, env: Readonly<Record<string, string>> = {}) => {
  const child = spawn(process.execPath, [main, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  alive.add(child)
  child.on("close", () => alive.delete(child))
  return child
}

/** Starts a server of the command line in `cwd`, and gives the first line it prints: the one that says it is ready. `stderr` is what it has reported so far. */
export const inspoServer = async (
  args: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> }
) => {
  const child = start(args, options.cwd, options.env)
  let stderr = ""
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  const [ready] = await Promise.race([
    once(child.stdout, "data"),
    once(child, "close").then(() => Promise.reject(new Error(stderr)))
  ])
  return { child, ready: String(ready), stderr: () => stderr }
}

/** Flags that change settings. */
export const sets = (...settings: ReadonlyArray<string>): ReadonlyArray<string> =>
  settings.flatMap((setting) => ["--set", setting])

/** That a command failed as bad input has to: one paragraph that names `part`, and no stack trace. */
export const assertToldInOneParagraph = (finished: Finished, code: number, part: string): void => {
  assert.strictEqual(finished.code, code, finished.stderr)
  assert.match(finished.stderr, /^inspo: [^\n]+\n$/u)
  assert.include(finished.stderr, part)
}
