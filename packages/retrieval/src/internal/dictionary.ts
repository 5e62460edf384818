import { Decoder } from "./decoder.ts"
import type { Encoder } from "./encoder.ts"
import type { Extent } from "./postings.ts"
import type { Storage } from "./storage.ts"

/** Words of a page. */
const pageSize = 64

/** Bounds are stored as whole numbers of this, rounded up. */
const boundUnit = 1 / 1024

/** A word of an index; `bound` is the largest share of its weight that a passage gets. */
export interface Entry extends Extent {
  readonly bound: number
}

/** The first word of each page, and from where to where in the storage it is. */
export type Pages = ReadonlyArray<readonly [first: string, at: number, end: number]>

/** Writes words, which come in ascending order. */
export const writer = (encoder: Encoder) => {
  const pages: Array<Pages[number]> = []
  let page: Array<Entry & { readonly word: string }> = []

  const endPage = () => {
    const [first] = page
    if (first === undefined) return
    const start = encoder.position
    for (const { at, bound, holding, length, word } of page) {
      encoder.text(word)
      for (const number of [holding, at, length, Math.ceil(bound / boundUnit)]) encoder.number(number)
    }
    pages.push([first.word, start, encoder.position])
    page = []
  }
  return {
    /** Returns whether the word ended a page. */
    add: (word: string, entry: Entry): boolean => {
      page.push({ word, ...entry })
      if (page.length < pageSize) return false
      endPage()
      return true
    },
    end: (): Pages => {
      endPage()
      return pages
    }
  }
}

/** The entry of a word; null for one that no passage holds. */
export const find = (storage: Storage, pages: Pages, word: string): Entry | null => {
  let low = 0
  let high = pages.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((pages[middle]?.[0] ?? "") <= word) low = middle + 1
    else high = middle
  }
  const page = pages[low - 1]
  if (page === undefined) return null
  const decoder = new Decoder(storage, page[1], page[2])
  while (!decoder.isAtEnd) {
    const candidate = decoder.text()
    const [holding, at, length, units] = [decoder.number(), decoder.number(), decoder.number(), decoder.number()]
    if (candidate === word) return { holding, at, length, bound: units * boundUnit }
  }
  return null
}
