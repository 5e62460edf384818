import { Decoder } from "./decoder.ts"
import { Encoder } from "./encoder.ts"
import type { Storage } from "./storage.ts"

/** The most postings and words that are in memory before they are written as a run. */
const limits = { postings: 1 << 21, words: 1 << 17 }

/** The postings of a word, in the order of the passages. */
export interface Merged {
  readonly word: string
  /** Has to be called once, before the next word. */
  readonly forEach: (visit: (passage: number, frequency: number) => void) => void
}

/** Sorts by word what comes by passage, in bounded memory, by merged runs. `limit` is the most postings in memory. */
export const make = (storage: Storage, limit: number = limits.postings) => {
  const encoder = new Encoder(storage, 0)
  const starts: Array<number> = []
  const ids = new Map<string, number>()
  /** How often the present passage holds each word; and the words that it holds. */
  let frequencyOf = new Uint32Array(1 << 10)
  let held: Array<number> = []
  /** Word, passage and frequency of each posting. */
  let postings = new Uint32Array(3 << 10)
  let length = 0
  let passage = 0

  /** Counts each of the words of the present passage so many times. */
  const count = (words: ReadonlyArray<string>, times: number): void => {
    for (const word of words) {
      let id = ids.get(word)
      if (id === undefined) ids.set(word, (id = ids.size))
      if (id >= frequencyOf.length) frequencyOf = doubled(frequencyOf)
      const before = frequencyOf[id] ?? 0
      if (before === 0) held.push(id)
      frequencyOf[id] = before + times
    }
  }

  const endPassage = (): void => {
    for (const id of held) {
      if (3 * length === postings.length) postings = doubled(postings)
      postings[3 * length] = id
      postings[3 * length + 1] = passage
      postings[3 * length++ + 2] = frequencyOf[id] ?? 0
      frequencyOf[id] = 0
    }
    held = []
    passage++
    if (length >= limit || ids.size >= limits.words) store()
  }

  const store = () => {
    starts.push(encoder.position)
    const { ends, places } = byWord(postings, length, ids.size)
    for (const word of [...ids.keys()].sort()) {
      const id = ids.get(word) ?? 0
      const end = ends[id] ?? 0
      let place = ends[id - 1] ?? 0
      encoder.text(word)
      encoder.number(end - place)
      for (let last = 0; place < end; place++) {
        const at = 3 * (places[place] ?? 0)
        const passage = postings[at + 1] ?? 0
        encoder.number(passage - last)
        encoder.number(postings[at + 2] ?? 0)
        last = passage
      }
    }
    ids.clear()
    length = 0
  }

  /** All words in ascending order; no passage may follow. */
  const merge = (): Iterable<Merged> => {
    store()
    encoder.flush()
    return merged(starts.map((start, run) => new Decoder(storage, start, starts[run + 1] ?? encoder.position)))
  }
  return { count, endPassage, merge }
}

/** Merges runs, which come in the order of their passages. */
const merged = function* (runs: ReadonlyArray<Decoder>): Iterable<Merged> {
  const heads = runs.filter(({ isAtEnd }) => !isAtEnd).map(headOf)
  while (heads.length > 0) {
    const word = heads.reduce((least, head) => (head.word < least ? head.word : least), heads[0]?.word ?? "")
    const holders = heads.filter((head) => head.word === word)
    yield {
      word,
      forEach: (visit) => {
        for (const { decoder, holding } of holders) {
          let passage = 0
          for (let left = holding; left > 0; left--) visit((passage += decoder.number()), decoder.number())
        }
      }
    }
    for (const head of holders) {
      if (head.decoder.isAtEnd) heads.splice(heads.indexOf(head), 1)
      else Object.assign(head, headOf(head.decoder))
    }
  }
}

/** The next word of a run. */
const headOf = (decoder: Decoder) => ({ decoder, word: decoder.text(), holding: decoder.number() })

/** The places of the postings by word, in the order they came in, and where those of each word end. */
const byWord = (postings: Uint32Array, length: number, words: number) => {
  const ends = new Uint32Array(words)
  for (let place = 0; place < length; place++) {
    const id = postings[3 * place] ?? 0
    ends[id] = (ends[id] ?? 0) + 1
  }
  for (let id = 1; id < words; id++) ends[id] = (ends[id] ?? 0) + (ends[id - 1] ?? 0)
  const left = ends.slice()
  const places = new Uint32Array(length)
  for (let place = length - 1; place >= 0; place--) {
    const id = postings[3 * place] ?? 0
    const to = (left[id] ?? 0) - 1
    left[id] = to
    places[to] = place
  }
  return { ends, places }
}

/** The values with room for as many more. */
export const doubled = (values: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> => {
  const larger = new Uint32Array(2 * values.length)
  larger.set(values)
  return larger
}
