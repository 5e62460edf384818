import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../../../apps/cli/src/main.ts", import.meta.url))
const killSwitch = new URL("killSwitch.ts", import.meta.url).href

/** When the program is to be killed: in the middle of something (see `killSwitch.ts`), or so many milliseconds after its start. */
export type Kill = { readonly at: string } | { readonly after: number }

export interface Ended {
  readonly killed: boolean
  readonly code: number | null
  readonly stderr: string
  readonly stdout: string
}

export interface User {
  readonly uid: number
  readonly gid: number
}

const alive = new Set<ChildProcess>()

/** Ends the programs that a failed test left running. */
export const endAll = (): void => {
  for (const child of alive) child.kill("SIGKILL")
}

/** Runs the real command line to its end or to its death; `preload` is loaded before it. */
export const inspo = (args: ReadonlyArray<string>, cwd: string, kill?: Kill, preload?: URL): Promise<Ended> =>
  begin(args, cwd, kill, preload).ended

/** Starts the real command line, as another user where one is given, which can be sent signals until it ended. */
export const begin = (args: ReadonlyArray<string>, cwd: string, kill?: Kill, preload?: URL, user?: User) => {
  const at = kill !== undefined && "at" in kill ? kill.at : undefined
  const first = [...(at === undefined ? [] : [killSwitch]), ...(preload === undefined ? [] : [preload.href])]
  const child = spawn(process.execPath, [...first.flatMap((file) => ["--import", file]), main, ...args], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    ...user,
    env: {
      ...process.env,
      ...(at === undefined ? {} : { INSPO_KILL_AT: at }),
      ...(user === undefined ? {} : { HOME: cwd })
    }
  })
  alive.add(child)
  const timer = kill !== undefined && "after" in kill ? setTimeout(() => child.kill("SIGKILL"), kill.after) : undefined
  const ended = new Promise<Ended>((resolve, reject) => {
    let stderr = ""
    let stdout = ""
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
    child.on("error", reject)
    child.on("close", (code, signal) => {
      clearTimeout(timer)
      alive.delete(child)
      resolve({ killed: signal === "SIGKILL", code, stderr, stdout })
    })
  })
  return { ended, send: (signal: NodeJS.Signals) => child.kill(signal) }
}

/** Starts a server of the command line; `address` is the URL it prints when it is ready. */
export const server = async (args: ReadonlyArray<string>, cwd: string) => {
  const child = spawn(process.execPath, [main, ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] })
  alive.add(child)
  let stderr = ""
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = new Promise<void>((resolve) => {
    child.on("close", () => {
      alive.delete(child)
      resolve()
    })
  })
  const ready = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString()))
    child.on("close", () => reject(new Error(`the server ended: ${stderr}`)))
  })
  const [address = ""] = /http:\S+\d/u.exec(ready) ?? []
  return {
    address,
    send: (signal: NodeJS.Signals) => child.kill(signal),
    kill: () => {
      child.kill("SIGKILL")
      return ended
    }
  }
}
