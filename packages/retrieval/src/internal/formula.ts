/** BM25 with k1 = 1.2 and b = 0.75. */

/** How many matches in the text one match in the title is worth. */
export const titleWeight = 10

/** What a word is worth that `holding` of the passages hold. A word that most passages hold is worth little, but never less than nothing. */
export const weight = (passages: number, holding: number): number =>
  Math.max(Math.log((passages - holding + 0.5) / (holding + 0.5)), 1e-6)

/** The share of its weight that a word adds to the score of a passage of `length` words, where the mean length is `mean`. */
export const gain = (frequency: number, length: number, mean: number): number =>
  (frequency * 2.2) / (frequency + 1.2 * (0.25 + (0.75 * length) / mean))
