/**
 * The words of a text: runs of letters and digits, without case and diacritics. All indexes and queries are split by this
 * function; after a change of it, older indexes have to be built again (`format` in `CorpusIndex.ts`).
 */
export const wordsOf = (text: string): ReadonlyArray<string> =>
  (foreign.test(text) ? fold(text).match(runs) : text.toLowerCase().match(asciiRuns)) ?? []

/** Marks of letters are removed; those that are sounds of their own, as in で, become part of the letter again. */
const fold = (text: string): string =>
  text.normalize("NFD").replaceAll(diacritics, "").toLowerCase().replaceAll("ς", "σ").normalize("NFC")

const foreign = /\P{ASCII}/u
const diacritics = /[\u0300-\u036F]+/gu
const runs = /[\p{L}\p{N}\p{Co}]+/gu
const asciiRuns = /[a-z0-9]+/gu
