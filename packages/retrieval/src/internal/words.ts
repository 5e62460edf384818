/**
 * The words of a text: runs of letters and digits, without case and diacritics. All indexes and queries are split by this
 * function; after a change of it, older indexes have to be built again (`format` in `CorpusIndex.ts`).
 *
 * In scripts where a space does not end a word, such as Chinese, Thai and Korean with its particles, the words are the characters by
 * themselves, as UAX #29 breaks them without a dictionary, and each two in a row. `Intl.Segmenter` has dictionaries, but its
 * words change with the version of Node and with their context.
 */
export const wordsOf = (text: string): ReadonlyArray<string> => {
  if (!foreign.test(text)) return text.toLowerCase().match(asciiRuns) ?? []
  const folded = fold(text)
  return (eastern.test(folded) ? folded.match(markedRuns)?.flatMap(characters) : folded.match(runs)) ?? []
}

/** Marks of letters are removed; those that are sounds of their own, as in で, become part of the letter again. */
const fold = (text: string): string =>
  text.normalize("NFD").replaceAll(diacritics, "").toLowerCase().replaceAll("ς", "σ").normalize("NFC")

/** The words of a run: itself, or in scripts without spaces its characters, and each with the next. */
const characters = (run: string): ReadonlyArray<string> =>
  unspaced.test(run)
    ? (run.match(units) ?? []).flatMap((unit, place, all) => {
        const next = all[place + 1]
        return next === undefined || !unspaced.test(unit) || !unspaced.test(next) ? [unit] : [unit, unit + next]
      })
    : [run]

const foreign = /\P{ASCII}/u
const diacritics = /[\u0300-\u036F]+/gu
const asciiRuns = /[a-z0-9]+/gu

const runs = /[\p{L}\p{N}\p{Co}]+/gu

/** A quick test, as most texts hold none: where scripts with vowel signs, or without spaces, are. */
const eastern = /[\u0900-\u1DBF\u2E80-\uD7FF\uF900-\uFAFF\uFF66-\uFFDC\u{10000}-\u{10FFFF}]/u

/** Vowel signs of Indian and other scripts belong to their words. */
const markedRuns = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}[\p{M}--\p{Script=Inherited}]]*/gv

const unspaced =
  /[[\p{L}\p{N}]&&[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]]/v

/** A character of a script without spaces, with its marks, or a run of others. */
const units = new RegExp(`${unspaced.source}\\p{M}*|(?:(?!${unspaced.source})[^])+`, "gv")
