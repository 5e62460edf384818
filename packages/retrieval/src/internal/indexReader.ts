import * as Dictionary from "./dictionary.ts"
import { gain, weight } from "./formula.ts"
import type { Layout } from "./indexFile.ts"
import * as Postings from "./postings.ts"
import type { Storage } from "./storage.ts"
import * as TopK from "./topK.ts"
import { wordsOf } from "./words.ts"

/** Reads what `indexWriter` wrote. */
export const make = (storage: Storage, layout: Layout) => {
  const { mean, pages, passages } = layout
  const lengths = new Uint32Array(storage.read(layout.lengths, 4 * passages).buffer)

  const scored = (word: string): ReadonlyArray<TopK.Scored> => {
    const entry = Dictionary.find(storage, pages, word)
    if (entry === null) return []
    const worth = weight(passages, entry.holding)
    const score = (passage: number, frequency: number) => worth * gain(frequency, lengths[passage] ?? 0, mean)
    return [
      {
        bound: worth * entry.bound,
        holding: entry.holding,
        forEach: (visit) => {
          const postings = new Postings.Reader(storage, entry)
          for (let block = 0; block < postings.blocks; block++) {
            postings.load(block)
            for (let place = 0; place < postings.length; place++) {
              const passage = postings.passages[place] ?? 0
              visit(passage, score(passage, postings.frequencies[place] ?? 0))
            }
          }
        },
        scores: () => {
          const postings = new Postings.Reader(storage, entry)
          return (passage) => {
            const frequency = postings.frequencyIn(passage)
            return frequency === 0 ? 0 : score(passage, frequency)
          }
        }
      }
    ]
  }

  /** At most `topK` passages, best first, those of equal score in corpus order. */
  const search = (query: string, topK: number): ReadonlyArray<TopK.Hit> =>
    topK < 1 ? [] : TopK.best([...new Set(wordsOf(query))].flatMap(scored), Math.floor(topK))
  return { search }
}
