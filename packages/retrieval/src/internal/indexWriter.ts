import type { DatabaseSync } from "node:sqlite"
import * as Segment from "./segment.ts"

/** Takes passages in corpus order; `end` comes last. */
export interface IndexWriter {
  readonly add: (title: string, text: string) => void
  readonly end: () => void
}

/**
 * The tables of an index. A segment holds consecutive passages from `first` on with their numbers of words, as 32-bit
 * integers; `postings` has one list per word and segment.
 */
const schema = `
  CREATE TABLE segments (segment INTEGER PRIMARY KEY, first INTEGER NOT NULL, lengths BLOB NOT NULL);
  CREATE TABLE postings (
    word TEXT NOT NULL, segment INTEGER NOT NULL, passages INTEGER NOT NULL, list BLOB NOT NULL,
    PRIMARY KEY (word, segment)
  ) WITHOUT ROWID`

export interface Options {
  /** (word, passage) pairs held in memory before a segment is written; some 24 bytes each, 200 MB by default. */
  readonly segmentPairs?: number
}

/** Writes an index into an empty database; the caller begins and commits the transaction. */
export const make = (database: DatabaseSync, options: Options = {}): IndexWriter => {
  database.exec(schema)
  const insertSegment = database.prepare("INSERT INTO segments VALUES (?, ?, ?)")
  const insertPostings = database.prepare("INSERT INTO postings VALUES (?, ?, ?, ?)")
  const { segmentPairs = 1 << 23 } = options
  let segment = Segment.make()
  let number = 0
  let first = 0

  const flush = (): void => {
    const lengths = segment.lengths()
    insertSegment.run(number, first, new Uint8Array(lengths.buffer))
    segment.forEachWord((word, passages, list) => insertPostings.run(word, number, passages, list))
    first += lengths.length
    number++
    segment = Segment.make()
  }
  return {
    add: (title, text) => {
      segment.add(title, text)
      if (segment.pairs() >= segmentPairs) flush()
    },
    end: flush
  }
}
