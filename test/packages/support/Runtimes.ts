import { isAbsolute } from "node:path"
import { tmpdir } from "node:os"
import { run } from "./Process.ts"

/** A program that runs JavaScript; `problem` says why it is not available, or is null. */
export interface Runtime {
  readonly name: string
  /** Runs a file that is added to it. */
  readonly command: readonly [program: string, ...args: ReadonlyArray<string>]
  readonly runsTypeScript: boolean
  readonly problem: string | null
}

/** The Node of these tests, and Node 20, Bun and Deno at pinned versions, out of their npm packages. */
export const find = async (): Promise<ReadonlyArray<Runtime>> => {
  const found: Array<Runtime> = [
    { name: `Node ${process.versions.node}`, command: [process.execPath], runsTypeScript: true, problem: null }
  ]
  for (const { args, name, print, runsTypeScript, spec } of others) {
    const { path, problem } = await obtain(spec, print)
    found.push({ name, command: [path, ...args], runsTypeScript, problem })
  }
  return found
}

/** The path of a program that an npm package brings, by a command that prints it. */
export const obtain = async (
  spec: string,
  print: ReadonlyArray<string>
): Promise<{ readonly path: string; readonly problem: string | null }> => {
  const args = ["--yes", "--prefer-offline", "--package", spec, "--", ...print]
  const { code, output, stdout } = await run("npx", args, tmpdir())
  const path = stdout.trim().split("\n").at(-1) ?? ""
  const isThere = code === 0 && isAbsolute(path)
  return { path, problem: isThere ? null : `npx cannot run ${spec}: ${output.trim().slice(0, 200)}` }
}

/** Bun and Deno as npm packages. */
export const bun = "bun@1.4.5"
export const deno = "deno@2.9.6"

const others = [
  {
    name: "Node 20.20.2",
    spec: "node@20.20.2",
    print: ["node", "-p", "process.execPath"],
    runsTypeScript: false,
    args: []
  },
  { name: "Bun 1.4.5", spec: bun, print: ["bun", "-p", "process.execPath"], runsTypeScript: true, args: [] },
  {
    name: "Deno 2.9.6",
    spec: deno,
    print: ["deno", "eval", "console.log(Deno.execPath())"],
    runsTypeScript: true,
    args: ["run", "--allow-all", "--no-lock"]
  }
]
