/** Programs that act as trainers, or are trainers, most of them in Python. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { assert } from "vitest"
import { codeBlocks } from "../../packages/support/Example.ts"
import { freePort } from "../../cli/FreePort.ts"
import { python } from "./Foreign.ts"
import * as World from "./World.ts"

/** Milliseconds for a training run, most of which Python spends on its imports. */
export const testTimeout = 900_000

export interface Program {
  /** Waits until it ends successfully; returns its output. */
  readonly ended: () => Promise<string>
  /** Waits until a file contains a text, then kills the program with all its processes. */
  readonly killedAt: (file: string, text: string) => Promise<void>
}

/** Starts a program in a directory; it may import those of `python/`. */
export const start = (
  file: string,
  args: ReadonlyArray<string>,
  cwd: string,
  variables: Readonly<Record<string, string>> = {}
): Program => {
  const paths = [World.client, World.script("")].join(delimiter)
  return launch(python, ["-W", "ignore", file, ...args], cwd, { ...variables, PYTHONPATH: paths })
}

/** Starts any program in a directory. */
export const launch = (
  program: string,
  args: ReadonlyArray<string>,
  cwd: string,
  variables: Readonly<Record<string, string>> = {}
): Program => {
  const env = { ...process.env, ...environment, ...variables }
  const child = spawn(program, args, { cwd, detached: true, env })
  alive.add(child)
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()))
  const exit = once(child, "exit")
  const ended = async () => {
    const [code, signal] = await exit
    assert.strictEqual(signal ?? code, 0, output.slice(-6000))
    return output
  }
  return {
    ended,
    killedAt: async (file, text) => {
      while (!(await contains(file, text))) {
        if (child.exitCode !== null) assert.fail(`it ended before it wrote ${text}: ${output.slice(-6000)}`)
        await wait(50)
      }
      kill(child)
      await exit
    }
  }
}

/** Starts a program in several processes that know of each other, by torch's variables. */
export const startRanks = async (
  ranks: number,
  file: string,
  args: ReadonlyArray<string>,
  cwd: string
): Promise<Program> => {
  const shared = { WORLD_SIZE: String(ranks), MASTER_ADDR: "127.0.0.1", MASTER_PORT: String(await freePort()) }
  const all = Array.from({ length: ranks }, (_, rank) =>
    start(file, args, cwd, { ...shared, RANK: String(rank), LOCAL_RANK: String(rank) })
  )
  return {
    ended: async () => (await Promise.all(all.map((one) => one.ended()))).join(""),
    killedAt: async (file, text) => {
      await Promise.all(all.map((one) => one.killedAt(file, text)))
    }
  }
}

/** Starts the program of the how-to that contains a text, with the replacements of `replaced`. */
export const startPrinted = async (
  text: string,
  replaced: Readonly<Record<string, string>>,
  cwd: string
): Promise<Program> => {
  const printed = codeBlocks(await readFile(World.guide, "utf8"), "python").find((code) => code.includes(text)) ?? ""
  const file = join(cwd, "printed.py")
  await writeFile(
    file,
    Object.entries(replaced).reduce((code, [from, to]) => code.replaceAll(from, to), printed)
  )
  return start(file, [], cwd)
}

/** Ends programs that a failed test left running. */
export const endAll = (): void => alive.forEach(kill)

/** No hub is contacted, and modules are compiled once. */
const environment = {
  PYTHONDONTWRITEBYTECODE: "",
  PYTHONPYCACHEPREFIX: fileURLToPath(new URL("../../../.cache/pycache", import.meta.url)),
  OMP_NUM_THREADS: "1",
  HF_HUB_OFFLINE: "1",
  TINKER_API_KEY: "tml-local",
  TINKER_TELEMETRY: "0"
}

const alive = new Set<ChildProcess>()

const contains = async (file: string, text: string): Promise<boolean> => {
  try {
    return (await readFile(file, "utf8")).includes(text)
  } catch {
    return false // It is not there yet.
  }
}

/** Kills the process group, which is its own. */
const kill = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL")
  } catch {
    // It ended.
  }
}
