import { PlainText } from "@inspo/domain"
import { CandidateLint } from "@inspo/reflection"

/** The words for a reason of the journal; an unknown reason is returned unchanged. */
export const inWords = (reason: string): string => words.get(reason) ?? PlainText.escape(reason)

const words: ReadonlyMap<string, string> = new Map([
  ...Object.entries(CandidateLint.description),
  ["bottom-half", "in the lower half"],
  ["forced", "replaced by newcomers"],
  ["near-duplicate", "nearly the same text as another candidate"],
  ["worse", "not the best of the population"],
  ["not-worse", "not worse than its parent"],
  ["no-baseline", "nothing to compare it with"],
  ["no-questions", "no question to try it on"],
  ["cut-short", "its trial ended before a decision"],
  ["untried", "accepted without a trial"]
])
