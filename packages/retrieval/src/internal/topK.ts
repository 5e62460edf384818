import { blockSize } from "./postings.ts"

/** A passage by its place in the corpus, from 0. */
export interface Hit {
  readonly passage: number
  readonly score: number
}

/** Passages in ascending order with what they have scored so far. */
interface Candidates {
  readonly passages: Uint32Array
  readonly scores: Float64Array
  length: number
}

/** The passages that hold one word of a query. */
export interface Scored {
  /** The most that the word adds to a score. */
  readonly bound: number
  /** How many passages hold the word. */
  readonly holding: number
  /** Calls `visit` with all of these passages in ascending order. */
  readonly forEach: (visit: (passage: number, score: number) => void) => void
  /** What the word adds to the score of passages, which have to be asked for in ascending order. */
  readonly scores: () => (passage: number) => number
}

/**
 * The `k` passages of the highest sums of scores, best first, those of equal sums in ascending order.
 *
 * Word by word, the one with the highest bound first, so that the scores of all passages are added in the same order. A
 * passage is dropped as soon as the words that are left cannot lift it to the k-th best sum that is known; once they cannot
 * lift a new passage to it either, the passages at hand are looked up and no list is read as a whole.
 */
export const best = (words: ReadonlyArray<Scored>, k: number): ReadonlyArray<Hit> => {
  const ordered = words.toSorted((a, b) => b.bound - a.bound)
  let candidates = empty(0)
  let least = 0
  const raise = (scores: Float64Array) => {
    least = Math.max(least, kthLargest(scores, k) * (1 - rounding))
  }
  for (const [place, word] of ordered.entries()) {
    const rest = ordered.slice(place + 1).reduce((sum, { bound }) => sum + bound, 0)
    const readsLess = word.holding > k * words.length * blockSize
    if (readsLess && word.bound + rest >= least) raise(sums(ordered, leaders(candidates, k)))
    candidates =
      word.bound + rest < least ? lookUp(candidates, word, least, rest) : merge(candidates, word, least - rest)
    raise(candidates.scores.subarray(0, candidates.length))
  }
  return hits(candidates).slice(0, k)
}

const hits = ({ length, passages, scores }: Candidates): ReadonlyArray<Hit> =>
  Array.from(scores.subarray(0, length), (score, place) => ({ passage: passages[place] ?? 0, score })).sort(
    (a, b) => b.score - a.score || a.passage - b.passage
  )

/** The `k` candidates that are best so far, in ascending order. */
const leaders = ({ length, passages, scores }: Candidates, k: number): Uint32Array => {
  const least = kthLargest(scores.subarray(0, length), k)
  return passages
    .subarray(0, length)
    .filter((_, place) => (scores[place] ?? 0) >= least)
    .slice(0, k)
}

/** The scores of all words. */
const sums = (words: ReadonlyArray<Scored>, passages: Uint32Array): Float64Array => {
  const sums = new Float64Array(passages.length)
  for (const { scores } of words) {
    const scoreOf = scores()
    for (const [place, passage] of passages.entries()) sums[place] = (sums[place] ?? 0) + scoreOf(passage)
  }
  return sums
}

/** More than the order of additions changes a sum. */
const rounding = 1e-9

const empty = (room: number): Candidates => ({
  passages: new Uint32Array(room),
  scores: new Float64Array(room),
  length: 0
})

/** The candidates and the passages that hold the word, without those of a sum below `least`. */
const merge = (candidates: Candidates, word: Scored, least: number): Candidates => {
  const { length, passages, scores } = candidates
  const merged = empty(length + word.holding)
  let place = 0
  const keep = (passage: number, score: number) => {
    if (score < least) return
    merged.passages[merged.length] = passage
    merged.scores[merged.length++] = score
  }
  word.forEach((passage, score) => {
    for (; place < length && (passages[place] ?? 0) < passage; place++) keep(passages[place] ?? 0, scores[place] ?? 0)
    keep(passage, place < length && passages[place] === passage ? (scores[place++] ?? 0) + score : score)
  })
  for (; place < length; place++) keep(passages[place] ?? 0, scores[place] ?? 0)
  return merged
}

/** The candidates with the scores of the word, without those that it and the `rest` cannot lift to `least`. */
const lookUp = ({ length, passages, scores }: Candidates, word: Scored, least: number, rest: number): Candidates => {
  const kept = empty(length)
  const scoreOf = word.scores()
  for (let place = 0; place < length; place++) {
    const before = scores[place] ?? 0
    if (before + word.bound + rest < least) continue
    const passage = passages[place] ?? 0
    const score = before + scoreOf(passage)
    if (score + rest < least) continue
    kept.passages[kept.length] = passage
    kept.scores[kept.length++] = score
  }
  return kept
}

/** The k-th largest number; 0 where there are fewer. */
const kthLargest = (numbers: Float64Array, k: number): number => {
  if (numbers.length < k) return 0
  // A heap of the k largest so far, with the smallest on top.
  const heap = numbers.slice(0, k).sort()
  for (let place = k; place < numbers.length; place++) {
    const number = numbers[place] ?? 0
    if (number > (heap[0] ?? 0)) sink(heap, number)
  }
  return heap[0] ?? 0
}

/** Replaces the top of a heap. */
const sink = (heap: Float64Array, number: number): void => {
  let place = 0
  for (;;) {
    let child = 2 * place + 1
    if ((heap[child + 1] ?? Infinity) < (heap[child] ?? Infinity)) child++
    const least = heap[child] ?? Infinity
    if (least >= number) break
    heap[place] = least
    place = child
  }
  heap[place] = number
}
