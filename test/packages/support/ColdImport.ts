import { execFileSync } from "node:child_process"

const starts = 9

/** What importing modules adds to the start of a process, in milliseconds: the difference of two medians of several starts. */
export const coldImport = (folder: string, specifiers: ReadonlyArray<string>): number => {
  const program = specifiers.map((one) => `import ${JSON.stringify(one)}`).join("\n")
  const pairs = Array.from({ length: starts }, () => [start(folder, ""), start(folder, program)] as const)
  return median(pairs.map(([, loaded]) => loaded)) - median(pairs.map(([empty]) => empty))
}

const start = (cwd: string, program: string): number => {
  const began = performance.now()
  execFileSync(process.execPath, ["--input-type=module", "--eval", program], { cwd })
  return performance.now() - began
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[(values.length - 1) / 2] ?? NaN
