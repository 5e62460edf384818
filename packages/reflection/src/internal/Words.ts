/** Texts as sequences of words: letters and digits, without punctuation. */

/** A text without what makes equal words look different: case, unless kept, accents, width, style, and invisible characters. */
export const fold = (text: string, letters: "any case" | "as written" = "any case"): string => {
  const plain = text.replace(invisible, "").normalize("NFKD").replace(accents, "").normalize("NFKC")
  // By capital letters first: ß and SS are the same word.
  return letters === "any case" ? plain.toUpperCase().toLowerCase() : plain
}

/** The words of a text, {@link fold}ed. */
export const of = (text: string): ReadonlyArray<string> => fold(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []

/** So many words in a row are no accident. */
const longRun = 5

/** A sentence of so many words is copied when all of it is repeated. */
const longSentence = 4

/**
 * Whether a text repeats one of the sources: {@link longRun} words in a row, or a whole sentence of at least
 * {@link longSentence}. Tags are no words, and end a sentence. What is in `trusted` too does not count.
 */
export const copiedFrom = (sources: ReadonlyArray<string>, trusted: string): ((text: string) => boolean) => {
  const ours = ` ${of(withoutTags(trusted)).join(" ")} `
  const runs = sources.flatMap((source) => runsOf(of(withoutTags(source)), longRun))
  const sentences = sources.flatMap((source) =>
    source
      .replace(tags, "\n")
      .split(/[.!?\n]+/u)
      .map(of)
  )
  const wholes = sentences.flatMap((words) => (words.length >= longSentence ? [words.join(" ")] : []))
  const telling = new Set([...runs, ...wholes].filter((run) => !ours.includes(` ${run} `)))
  const lengths = [...new Set([...telling].map((run) => run.split(" ").length))].filter((length) => length <= longRun)
  return (text) => {
    const words = of(withoutTags(text))
    return lengths.some((length) => runsOf(words, length).some((run) => telling.has(run)))
  }
}

/** A text with a space for each of its tags. */
export const withoutTags = (text: string): string => text.replace(tags, " ")

const tags = /<[^<>]*>/gu

/** White space is none, though some of it counts as control characters. */
const invisible = /[[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]--\s]|\uFEFF/gv

/** Marks that any letter may carry; the voiced sounds of Japanese are letters of their own. */
const accents = /[[\p{M}&&\p{Script=Inherited}]--[\u3099\u309A]]/gv

const runsOf = (words: ReadonlyArray<string>, length: number): ReadonlyArray<string> =>
  words.slice(length - 1).map((_, start) => words.slice(start, start + length).join(" "))
