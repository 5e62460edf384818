/** Agents and cases for tests: an agent succeeds on a case by the sentences of its prompt. */
import type { EvolveOptions } from "../../src/index.ts"

export interface Case {
  readonly id: number
}

export const cases = (count: number): ReadonlyArray<Case> => Array.from({ length: count }, (_, id) => ({ id }))

export const good = "Answer in one word."
export const bad = "Answer in verse."
export const neutral = "Be polite."

/** A pseudo-random number in [0, 1) that depends on nothing but its arguments. */
export const chance = (...parts: ReadonlyArray<string | number>): number => {
  let hash = 2166136261
  for (const letter of parts.join("|")) hash = Math.imul(hash ^ letter.charCodeAt(0), 16777619) >>> 0
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32
}

/** Succeeds on a share of the cases: of three in ten, five in ten more when asked well, and hardly ever when asked badly. */
export const succeeds = (prompt: string, { id }: Case): boolean =>
  chance("case", id) < (prompt.includes(bad) ? 0.05 : 0.3) + (prompt.includes(good) ? 0.5 : 0)

export const options = (calls: number, count = 60): EvolveOptions<string, Case, string> => ({
  prompt: "Name the capital.",
  cases: cases(count),
  agent: (prompt, one) => (succeeds(prompt, one) ? "right" : "wrong"),
  score: (output) => Number(output === "right"),
  proposer: [good, bad, neutral],
  budget: { calls }
})
