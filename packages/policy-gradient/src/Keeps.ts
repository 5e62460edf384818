/** The registry of choices of rollouts: a new one is a file in `keeps`, and a line here. */
import { Choice, type Method } from "@inspo/domain"
import { all } from "./keeps/All.ts"
import { differing } from "./keeps/Differing.ts"
import { difficulty, unsolved } from "./keeps/Difficulty.ts"
import { finished } from "./keeps/Finished.ts"
import { varied, variedInGroup } from "./keeps/Varied.ts"
import { Moments } from "@inspo/statistics"
import type { Candidate } from "./Keep.ts"

export type { Candidate } from "./Keep.ts"

/** Every choice, that of GRPO first. */
export const keeps = [all, differing, difficulty, unsolved, varied, variedInGroup, finished] as const

/** Which rollouts of a step are trained. */
export const Keep = Choice.of(
  keeps,
  "Which rollouts of a step are trained; those left out do not count in the shares of the others. docs/reference/methods.md has all"
)
export type Keep = typeof Keep.Type

/** The choice of a config. */
export const named = ({ name: called }: Keep): Rule => keeps.find(({ name }) => name === called) ?? all

type Rule = Method.Rule<ReadonlyArray<ReadonlyArray<Candidate>>, ReadonlyArray<ReadonlyArray<boolean>>>

/** The further questions of dynamic sampling: as many as groups are missing, up to `limit` batches of a step; 0 sets no limit. */
export const stillWanted = (
  groups: ReadonlyArray<ReadonlyArray<number>>,
  { limit, wanted }: { readonly wanted: number; readonly limit: number }
): number => {
  const missing = wanted - groups.filter((rewards) => !Moments.allEqual(rewards)).length
  const left = limit === 0 ? Infinity : limit * wanted - groups.length
  return Math.max(0, Math.min(missing, left))
}
