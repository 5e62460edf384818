import type { DatabaseSync } from "node:sqlite"
import * as Postings from "./postings.ts"
import { type Hit, lengthsOf, rank } from "./ranking.ts"
import { distinctWords } from "./words.ts"

export interface IndexReader {
  /** Number of passages. */
  readonly size: number
  /** At most `topK` passages, best first. */
  readonly search: (query: string, topK: number) => ReadonlyArray<Hit>
}

export interface Options {
  /** How many postings may be read for one query; {@link postingsPerQuery} by default. */
  readonly postingsPerQuery?: number
}

/**
 * Postings that are read for one query, some milliseconds' worth. The most frequent words that go beyond are left out,
 * unless fewer passages than asked for are found without them. A query of 20 words over 5,000 passages loses none.
 */
export const postingsPerQuery = 100_000

/** Reads what `indexWriter` wrote. */
export const make = (database: DatabaseSync, options: Options = {}): IndexReader => {
  const budget = options.postingsPerQuery ?? postingsPerQuery
  const segments = readSegments(database)
  const lengths = lengthsOf(segments.lengths)
  const countPassages = database.prepare("SELECT sum(passages) AS passages FROM postings WHERE word = ?")
  const selectLists = database.prepare("SELECT segment, list FROM postings WHERE word = ? ORDER BY segment")

  const known = (word: string): ReadonlyArray<Known> => {
    const passages = Number(countPassages.get(word)?.["passages"] ?? 0)
    return passages === 0 ? [] : [{ word, passages }]
  }

  const read = ({ passages, word }: Known): Postings.Postings => {
    const postings = { passages: new Uint32Array(passages), frequencies: new Uint32Array(passages) }
    let at = 0
    for (const { list, segment } of selectLists.iterate(word)) {
      if (list instanceof Uint8Array) at = Postings.decode(list, segments.firsts[Number(segment)] ?? 0, postings, at)
    }
    return postings
  }

  const search = (query: string, topK: number): ReadonlyArray<Hit> => {
    if (topK < 1) return []
    const words = distinctWords(query).flatMap(known)
    let left = affordable(words, budget)
    let hits = rank(words.filter(among(left)).map(read), lengths, topK)
    while (hits.length < topK && left.length < words.length) {
      left = rarest(words, left.length + 1)
      hits = rank(words.filter(among(left)).map(read), lengths, topK)
    }
    return hits
  }
  return { size: lengths.ofPassage.length, search }
}

/** A word of the index with the number of passages that hold it. */
interface Known {
  readonly word: string
  readonly passages: number
}

const rarest = (words: ReadonlyArray<Known>, count: number): ReadonlyArray<Known> =>
  words.toSorted((a, b) => a.passages - b.passages).slice(0, count)

/** The rarest words that the budget lasts for, and the rarest in any case. */
const affordable = (words: ReadonlyArray<Known>, budget: number): ReadonlyArray<Known> => {
  let spent = 0
  return rarest(words, words.length).filter(({ passages }, rank) => (spent += passages) <= budget || rank === 0)
}

const among = (words: ReadonlyArray<Known>) => (word: Known) => words.includes(word)

const readSegments = (database: DatabaseSync) => {
  const firsts: Array<number> = []
  const parts: Array<Uint32Array> = []
  for (const { first, lengths } of database.prepare("SELECT first, lengths FROM segments ORDER BY segment").all()) {
    firsts.push(Number(first))
    // A copy, because a view of 32-bit integers has to be aligned.
    if (lengths instanceof Uint8Array) parts.push(new Uint32Array(new Uint8Array(lengths).buffer))
  }
  const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0))
  parts.forEach((part, segment) => all.set(part, firsts[segment]))
  return { firsts, lengths: all }
}
