import type { DatabaseSync } from "node:sqlite"
import { tokenize } from "./indexWriter.ts"

/** A passage by its place in the corpus, from 0. */
export interface Hit {
  readonly passage: number
  readonly score: number
}

export interface IndexReader {
  /** At most `topK` passages, best first, those of equal score in corpus order. */
  readonly search: (query: string, topK: number) => ReadonlyArray<Hit>
}

export interface Options {
  /** How many postings may be read for one query; {@link postingsPerQuery} by default. */
  readonly postingsPerQuery?: number
}

/**
 * Postings that are read for one query, some milliseconds' worth. The most frequent words that go beyond are left out,
 * unless fewer passages than asked for are found without them. A query of 12 words over 500 passages loses none.
 */
export const postingsPerQuery = 6_000

/** How many matches in the text one match in the title is worth. */
export const titleWeight = 10

/** The words of a query, as the index has them, are those of a text: FTS5 reads them from an index of the query alone. */
const querySchema = `
  PRAGMA temp_store = MEMORY;
  CREATE VIRTUAL TABLE IF NOT EXISTS temp.query USING fts5(text, content = '', ${tokenize});
  CREATE VIRTUAL TABLE IF NOT EXISTS temp.query_words USING fts5vocab(temp, query, instance)`

const selectKnown = `SELECT word, passages FROM temp.query_words JOIN words ON word = term
  GROUP BY word ORDER BY min(offset)`

/** BM25 with k1 = 1.2 and b = 0.75; FTS5 gives its negative. */
const selectHits = `SELECT rowid AS passage, -bm25(passages, 1, ${titleWeight}) AS score FROM passages
  WHERE passages MATCH ? ORDER BY score DESC, rowid LIMIT ?`

/** Reads what `indexWriter` wrote. */
export const make = (database: DatabaseSync, options: Options = {}): IndexReader => {
  const budget = options.postingsPerQuery ?? postingsPerQuery
  database.exec(querySchema)
  const emptyQuery = database.prepare("INSERT INTO temp.query (query) VALUES ('delete-all')")
  const fillQuery = database.prepare("INSERT INTO temp.query (rowid, text) VALUES (0, ?)")
  const known = database.prepare(selectKnown)
  const hits = database.prepare(selectHits)

  const wordsOf = (query: string): ReadonlyArray<Known> => {
    emptyQuery.run()
    fillQuery.run(query)
    return known.all().map(({ passages, word }) => ({ word: String(word), passages: Number(passages) }))
  }

  const rank = (words: ReadonlyArray<Known>, topK: number): ReadonlyArray<Hit> =>
    hits
      .all(words.map(({ word }) => `"${word}"`).join(" OR "), topK)
      .map(({ passage, score }) => ({ passage: Number(passage), score: Number(score) }))

  const search = (query: string, topK: number): ReadonlyArray<Hit> => {
    if (topK < 1) return []
    const words = wordsOf(query)
    if (words.length === 0) return []
    let left = affordable(words, budget)
    let found = rank(words.filter(among(left)), topK)
    while (found.length < topK && left.length < words.length) {
      left = rarest(words, left.length + 1)
      found = rank(words.filter(among(left)), topK)
    }
    return found
  }
  return { search }
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
