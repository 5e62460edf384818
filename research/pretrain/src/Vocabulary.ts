import { World } from "@inspo/datasets"
import { ClauseBank } from "@inspo/reflection"
import { Observation } from "@inspo/rollout"
import { Array } from "effect"

/**
 * The words of the embedded model's tokenizer: those of every world, of the seed instruction and all clauses, and of the
 * texts of the environment. Without tags, which are special tokens, and punctuation, which follows a word without a space
 * and is one token per byte.
 */
export const vocabulary: ReadonlyArray<string> = Array.dedupe([
  ...World.vocabulary,
  ...[
    ClauseBank.seedInstruction,
    ...ClauseBank.clauses.flatMap((clause) => clause.texts),
    Observation.invalidAction,
    Observation.nothingFound,
    Observation.rejected("search", ""),
    "Question: The answer is"
  ].flatMap(wordsOf)
])

function wordsOf(text: string): ReadonlyArray<string> {
  return text.replaceAll(/<\/?\w+>/gu, " ").match(/\p{L}+|\p{N}+/gu) ?? []
}
