/** A server in a process of its own, with the figures of `Meter.ts`. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { Reading } from "./Meter.ts"

export interface Process {
  readonly child: ChildProcess
  readonly address: string
}

/** Starts `inspo serve` in a directory. `INSPO_PROFILE=FOLDER` profiles it. */
export const start = (cwd: string, options: ReadonlyArray<string>): Promise<Process> =>
  run(cwd, [main, "serve", "--port", "0", "--json", ...options])

/** Starts the bare server of Node. */
export const startBare = (cwd: string): Promise<Process> => run(cwd, [bare])

const run = async (cwd: string, program: ReadonlyArray<string>): Promise<Process> => {
  const profile = process.env["INSPO_PROFILE"]
  const profiled = profile === undefined ? [] : ["--cpu-prof", "--cpu-prof-dir", profile]
  const child = spawn(process.execPath, [...profiled, "--import", meter, ...program], {
    cwd,
    stdio: ["ignore", "pipe", "inherit", "ipc"]
  })
  if (child.stdout === null) throw new Error("the server has no output")
  const [ready] = await once(child.stdout, "data")
  return { child, address: JSON.parse(String(ready)).url }
}

const main = fileURLToPath(new URL("../../../apps/cli/src/main.ts", import.meta.url))
const bare = fileURLToPath(new URL("./Bare.ts", import.meta.url))
const meter = new URL("./Meter.ts", import.meta.url).href

/** The reading of the server since the last one. */
export const read = async ({ child }: Pick<Process, "child">): Promise<Reading> => {
  const message = once(child, "message")
  child.send("read")
  const [reading] = await message
  return reading
}

/** Stops a server and waits for its end. */
export const stop = async ({ child }: Pick<Process, "child">): Promise<void> => {
  if (child.exitCode !== null) return
  child.kill("SIGTERM")
  await once(child, "exit")
}
