import { Effect } from "effect"
import * as Dictionary from "./dictionary.ts"
import type { Encoder } from "./encoder.ts"
import { gain, titleWeight } from "./formula.ts"
import type { Layout } from "./indexFile.ts"
import * as Postings from "./postings.ts"
import * as Runs from "./runs.ts"
import type { Storage } from "./storage.ts"
import { wordsOf } from "./words.ts"

/** Takes passages in corpus order, and keeps what does not fit into memory in `runs` until the end. */
export const make = (runs: Storage, postingsInMemory?: number) => {
  const sorter = Runs.make(runs, postingsInMemory)
  let lengths = new Uint32Array(1 << 10)
  let passages = 0
  let words = 0

  const add = (title: string, text: string): void => {
    const [ofTitle, ofText] = [wordsOf(title), wordsOf(text)]
    sorter.count(ofTitle, titleWeight)
    sorter.count(ofText, 1)
    sorter.endPassage()
    if (passages === lengths.length) lengths = Runs.doubled(lengths)
    lengths[passages++] = ofTitle.length + ofText.length
    words += ofTitle.length + ofText.length
  }

  const end = Effect.fnUntraced(function* (encoder: Encoder): Effect.fn.Return<Layout> {
    const mean = words / Math.max(1, passages)
    const dictionary = Dictionary.writer(encoder)
    for (const { forEach, word } of sorter.merge()) {
      const postings = Postings.writer(encoder)
      let bound = 0
      forEach((passage, frequency) => {
        postings.add(passage, frequency)
        bound = Math.max(bound, gain(frequency, lengths[passage] ?? 0, mean))
      })
      if (dictionary.add(word, { ...postings.end(), bound })) yield* Effect.yieldNow
    }
    const pages = dictionary.end()
    const at = encoder.position
    encoder.bytes(new Uint8Array(lengths.buffer, 0, 4 * passages))
    return { passages, mean, lengths: at, pages }
  })
  return { add, end }
}
