import * as Postings from "./postings.ts"
import * as Vocabulary from "./vocabulary.ts"
import { fold, wordBounds } from "./words.ts"

/** How many matches in the text one match in the title is worth. */
export const titleWeight = 10

/** Consecutive passages on their way into an index. */
export interface Segment {
  readonly add: (title: string, text: string) => void
  /** (word, passage) pairs so far: what memory is needed for. */
  readonly pairs: () => number
  /** The number of words of each passage. */
  readonly lengths: () => Uint32Array<ArrayBuffer>
  /** Calls `visit` with each word, ascending, the number of passages that hold it, and their encoded list. */
  readonly forEachWord: (visit: (word: string, passages: number, list: Uint8Array) => void) => void
}

export const make = (): Segment => {
  const vocabulary = Vocabulary.make()
  const lengths: Array<number> = []
  // One entry per (word, passage) pair, in the order of the passages.
  const pairs = { word: integers(), passage: integers(), frequency: integers(), count: 0 }
  // Of the passage being added: how often each word occurs, and which do.
  let frequencies = integers()
  let present: Array<number> = []

  const count = (text: string, weight: number): number => {
    const folded = fold(text)
    const bounds = wordBounds(folded)
    for (let i = 0; i < bounds.length; i += 2) {
      const word = vocabulary.numberOf(folded, bounds[i] ?? 0, bounds[i + 1] ?? 0)
      frequencies = withRoom(frequencies, word + 1)
      const before = frequencies[word] ?? 0
      if (before === 0) present.push(word)
      frequencies[word] = before + weight
    }
    return bounds.length / 2
  }

  const add = (title: string, text: string): void => {
    present = []
    const length = count(title, titleWeight) + count(text, 1)
    const needed = pairs.count + present.length
    pairs.word = withRoom(pairs.word, needed)
    pairs.passage = withRoom(pairs.passage, needed)
    pairs.frequency = withRoom(pairs.frequency, needed)
    for (const word of present) {
      pairs.word[pairs.count] = word
      pairs.passage[pairs.count] = lengths.length
      pairs.frequency[pairs.count] = frequencies[word] ?? 0
      pairs.count++
      frequencies[word] = 0
    }
    lengths.push(length)
  }

  return {
    add,
    pairs: () => pairs.count,
    lengths: () => Uint32Array.from(lengths),
    forEachWord: (visit) => {
      const { words } = vocabulary
      const { ends, postings } = byWord(pairs, words.length)
      let scratch = new Uint8Array(0)
      for (const word of words.toSorted()) {
        const number = vocabulary.numberOf(word, 0, word.length)
        const start = number === 0 ? 0 : (ends[number - 1] ?? 0)
        const end = ends[number] ?? 0
        const bytes = (end - start) * Postings.bytesPerPosting
        if (bytes > scratch.length) scratch = new Uint8Array(2 * bytes)
        visit(word, end - start, Postings.encode(postings, start, end, scratch))
      }
    }
  }
}

interface Pairs {
  readonly word: Uint32Array
  readonly passage: Uint32Array
  readonly frequency: Uint32Array
  readonly count: number
}

/** The pairs sorted by word, passages still ascending; those of word `i` end before `ends[i]`. */
const byWord = (pairs: Pairs, words: number) => {
  const ends = new Uint32Array(words)
  for (let i = 0; i < pairs.count; i++) {
    const word = pairs.word[i] ?? 0
    ends[word] = (ends[word] ?? 0) + 1
  }
  for (let word = 1; word < words; word++) ends[word] = (ends[word] ?? 0) + (ends[word - 1] ?? 0)
  const next = ends.slice()
  const passages = new Uint32Array(pairs.count)
  const frequencies = new Uint32Array(pairs.count)
  for (let i = pairs.count - 1; i >= 0; i--) {
    const word = pairs.word[i] ?? 0
    const place = (next[word] ?? 0) - 1
    next[word] = place
    passages[place] = pairs.passage[i] ?? 0
    frequencies[place] = pairs.frequency[i] ?? 0
  }
  return { ends, postings: { passages, frequencies } }
}

const integers = () => new Uint32Array(1024)

const withRoom = (array: Uint32Array<ArrayBuffer>, needed: number): Uint32Array<ArrayBuffer> => {
  if (needed <= array.length) return array
  const larger = new Uint32Array(2 * needed)
  larger.set(array)
  return larger
}
