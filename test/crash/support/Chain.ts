import { rm } from "node:fs/promises"
import { join } from "node:path"
import { assert } from "vitest"
import { interrupted, type Outcome, outcomeOf } from "./Outcome.ts"
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

/** The arguments that continue a run. */
export const resume = (name: string): ReadonlyArray<string> => ["resume", name, "--no-baseline", "--quiet"]

/** What a run of the preset `tiny` comes to when nothing disturbs it. */
export const undisturbedRun = async (
  cwd: string,
  name: string,
  ...settings: ReadonlyArray<string>
): Promise<Outcome> => {
  const whole = await inspo(start(name, ...settings), cwd)
  assert.strictEqual(whole.code, 0, whole.stderr)
  return outcomeOf(join(cwd, name))
}

/** Starts a run, or continues the one that has begun under that name. */
export const startOrResume = async (
  cwd: string,
  name: string,
  options: { readonly settings?: ReadonlyArray<string>; readonly kill?: Kill | undefined } = {}
): Promise<Ended> => {
  const begun = (await interrupted(join(cwd, name))) !== "start"
  // What died before it was a run is started again.
  if (!begun) await rm(join(cwd, name), { recursive: true, force: true })
  const args = begun ? resume(name) : start(name, ...(options.settings ?? []))
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
