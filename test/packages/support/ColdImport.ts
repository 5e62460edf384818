import { execFileSync } from "node:child_process"

const starts = 9

/** What importing modules adds to the start of a process, in milliseconds: the least of several starts, which other work delays least, less that of an empty program. */
export const coldImport = (folder: string, specifiers: ReadonlyArray<string>): number => {
  const program = specifiers.map((one) => `import ${JSON.stringify(one)}`).join("\n")
  const pairs = Array.from({ length: starts }, () => [start(folder, ""), start(folder, program)] as const)
  return Math.min(...pairs.map(([, loaded]) => loaded)) - Math.min(...pairs.map(([empty]) => empty))
}

const start = (cwd: string, program: string): number => {
  const began = performance.now()
  execFileSync(process.execPath, ["--input-type=module", "--eval", program], { cwd })
  return performance.now() - began
}
