import type { DatabaseSync } from "node:sqlite"

/** Takes passages in corpus order; `end` comes last. */
export interface IndexWriter {
  readonly add: (title: string, text: string) => void
  readonly end: () => void
}

/** How text becomes words: runs of letters, digits and marks, without case and diacritics. */
export const tokenize = "tokenize = 'unicode61'"

/** Bytes of words held in memory before FTS5 writes them; larger pieces have to be merged less often. */
const hashSize = 1 << 26

/**
 * A full-text index (FTS5) that keeps no text, whose rowids are the places of the passages, from 0; and how many passages
 * hold each word, which FTS5 would count again for each query. The text comes first because FTS5 stores matches in the
 * first column in the least space.
 */
const schema = `
  CREATE VIRTUAL TABLE passages USING fts5(text, title, content = '', ${tokenize});
  INSERT INTO passages (passages, rank) VALUES ('hashsize', ${hashSize});
  CREATE TABLE words (word TEXT PRIMARY KEY, passages INTEGER NOT NULL) WITHOUT ROWID`

const countWords = `
  CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, passages, row);
  INSERT INTO words SELECT term, doc FROM temp.vocabulary;
  DROP TABLE temp.vocabulary`

/** Writes an index into an empty database; the caller begins and commits the transaction. */
export const make = (database: DatabaseSync): IndexWriter => {
  database.exec(schema)
  const insert = database.prepare("INSERT INTO passages (rowid, text, title) VALUES (?, ?, ?)")
  let place = 0
  return {
    add: (title, text) => {
      insert.run(place++, text, title)
    },
    end: () => database.exec(countWords)
  }
}
