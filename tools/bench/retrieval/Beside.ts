/** bm25s in a Python process of its own. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** Milliseconds of a question, of the clock and of the processor. */
export interface Time {
  readonly wall: number
  readonly cpu: number
}

/** Indexes a corpus with a Python that has `requirements.txt`; then answers questions one after the other. */
export const start = async (python: string, corpus: string) => {
  const script = fileURLToPath(new URL("./beside.py", import.meta.url))
  const child = spawn(python, [script, corpus], { stdio: ["pipe", "pipe", "inherit"] })
  const lines = createInterface(child.stdout)
  const next = async (): Promise<string> => {
    const [line] = await Promise.race([
      once(lines, "line"),
      once(child, "exit").then(() => Promise.reject(new Error("bm25s ended, see above")))
    ])
    return String(line)
  }
  const about: { readonly version: string; readonly seconds: number; readonly megabytes: number } = JSON.parse(
    await next()
  )
  return {
    about,
    search: async (questions: ReadonlyArray<string>): Promise<ReadonlyArray<Time>> => {
      child.stdin.write(`${JSON.stringify(questions)}\n`)
      const times: ReadonlyArray<readonly [number, number]> = JSON.parse(await next())
      return times.map(([wall, cpu]) => ({ wall, cpu }))
    },
    stop: () => child.kill()
  }
}
