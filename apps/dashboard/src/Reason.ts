/** Why an instruction came, stayed or left, in words. */
import * as PlainText from "@inspo/domain/PlainText"
import * as CandidateLint from "@inspo/reflection/CandidateLint"

/** The words for a reason of the journal; one that is not known is told as it is. */
export const inWords = (reason: string): string => words.get(reason) ?? PlainText.escape(reason)

const words: ReadonlyMap<string, string> = new Map([
  ...Object.entries(CandidateLint.description),
  ["bottom-half", "in the lower half"],
  ["forced", "it gave way to newcomers"],
  ["near-duplicate", "says much the same as one that was tried"],
  ["worse", "worse than what it was compared with"],
  ["not-worse", "no worse than its parent"],
  ["no-baseline", "there was nothing to compare it with"],
  ["no-questions", "there was no question to try it on"],
  ["cut-short", "its trial ended before it could be told"],
  ["untried", "taken in without a trial"]
])
