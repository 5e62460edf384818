import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"

/** Runs a program to its end and returns what it writes on standard output. Fails with all of its output. */
export const run = async (program: string, args: ReadonlyArray<string>, cwd: string): Promise<string> => {
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] })
  const exit = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve))
  const [code, output, errors] = await Promise.all([exit, text(child.stdout), text(child.stderr)])
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${output}${errors}`)
  return output
}
