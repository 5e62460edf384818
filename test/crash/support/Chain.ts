import { rm } from "node:fs/promises"
import { join } from "node:path"
import { assert } from "vitest"
import { interrupted } from "./Outcome.ts"
import { type Ended, inspo, type Kill } from "./Program.ts"

/** The arguments that start a run of the preset `tiny`. */
export const start = (name: string, ...settings: ReadonlyArray<string>): ReadonlyArray<string> => [
  "run",
  "--preset",
  "tiny",
  "--no-baseline",
  "--quiet",
  "--out",
  name,
  ...settings.flatMap((setting) => ["--set", setting])
]

/** Starts a run, or continues the one that has begun under that name. */
export const goOn = async (
  cwd: string,
  name: string,
  options: { readonly settings?: ReadonlyArray<string>; readonly kill?: Kill | undefined } = {}
): Promise<Ended> => {
  const begun = (await interrupted(join(cwd, name))) !== "start"
  // What died before it was a run is started again.
  if (!begun) await rm(join(cwd, name), { recursive: true, force: true })
  const args = begun ? ["resume", name, "--no-baseline", "--quiet"] : start(name, ...(options.settings ?? []))
  return inspo(args, cwd, options.kill)
}

/** Counts how often something happened. */
export class Tally {
  readonly counts = new Map<string, number>()
  add(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }
  toString(): string {
    return [...this.counts].map(([name, count]) => `${name} ${count}`).join(", ")
  }
  assertAll(names: ReadonlyArray<string>): void {
    for (const name of names) assert.isAbove(this.counts.get(name) ?? 0, 0, `no kill was ${name}: ${this.toString()}`)
  }
}
