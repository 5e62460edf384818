/** Texts as sequences of words: letters and digits, without punctuation. */

/** The words of a text in small letters. */
export const of = (text: string): ReadonlyArray<string> => asWritten(text.toLowerCase())

/** Whether the words of `part`, at least one, stand in `text` one after the other. */
export const holds = (text: string, part: string, letters: "as written" | "any case"): boolean => {
  const split = letters === "any case" ? of : asWritten
  const sought = split(part).join(" ")
  return sought !== "" && ` ${split(text).join(" ")} `.includes(` ${sought} `)
}

/** So many words in a row are no accident. */
const longRun = 5

/** A sentence of so many words is told again when it is told as a whole. */
const longSentence = 4

/**
 * Tells whether a text repeats one of the sources: {@link longRun} words in a row, or a whole sentence of at least
 * {@link longSentence}. Tags are no words, and end a sentence. What stands in `trusted` too does not count.
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

const tags = /<[^<>]*>/gu

const withoutTags = (text: string): string => text.replace(tags, " ")

const asWritten = (text: string): ReadonlyArray<string> => text.match(/[\p{L}\p{N}]+/gu) ?? []

const runsOf = (words: ReadonlyArray<string>, length: number): ReadonlyArray<string> =>
  words.slice(length - 1).map((_, start) => words.slice(start, start + length).join(" "))
