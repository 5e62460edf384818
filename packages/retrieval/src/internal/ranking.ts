import type { Postings } from "./postings.ts"

/** A passage by its place in the corpus, from 0. */
export interface Hit {
  readonly passage: number
  readonly score: number
}

/** The lengths of all passages, in words, with what BM25 makes of each length. */
export interface Lengths {
  readonly ofPassage: Uint32Array
  readonly penaltyOf: Float64Array
}

const k1 = 1.2
const b = 0.75

export const lengthsOf = (ofPassage: Uint32Array): Lengths => {
  let longest = 0
  let total = 0
  for (const length of ofPassage) {
    total += length
    if (length > longest) longest = length
  }
  const mean = total / ofPassage.length
  const penaltyOf = Float64Array.from({ length: longest + 1 }, (_, length) => k1 * (1 - b + (b * length) / mean))
  return { ofPassage, penaltyOf }
}

/**
 * The `topK` passages with the highest BM25 scores (Robertson and Zaragoza, 2009; k1 = 1.2, b = 0.75), best first, those
 * of equal score in corpus order. A word that more than half of the passages hold counts next to nothing.
 */
export const rank = (terms: ReadonlyArray<Postings>, lengths: Lengths, topK: number): ReadonlyArray<Hit> => {
  const size = lengths.ofPassage.length
  const cursors = terms.map((postings) => ({ postings, weight: weightOf(postings.passages.length, size), next: 0 }))
  const places = Math.min(blockSize, size)
  const block: Block = { scores: new Float64Array(places), found: new Uint32Array(places), count: 0 }
  const top: Array<Hit> = []
  for (let first = 0; first < size; first += blockSize) {
    for (const cursor of cursors) addScores(block, first, cursor, lengths)
    collect(block, first, top, topK)
  }
  return top
}

/** How much a word says about a passage, given how many of all passages hold it. */
const weightOf = (passages: number, size: number): number =>
  Math.max(Math.log((size - passages + 0.5) / (passages + 0.5)), 1e-6)

/** Passages scored together, so that their scores stay in the processor's cache. */
const blockSize = 1 << 15

/** The scores of one block of passages, and the `count` places where they are not zero. */
interface Block {
  readonly scores: Float64Array
  readonly found: Uint32Array
  count: number
}

interface Cursor {
  readonly postings: Postings
  readonly weight: number
  next: number
}

const addScores = (block: Block, first: number, cursor: Cursor, lengths: Lengths): void => {
  const { found, scores } = block
  const { frequencies, passages } = cursor.postings
  const { weight } = cursor
  let { count } = block
  let { next } = cursor
  for (; next < passages.length; next++) {
    const passage = passages[next] ?? 0
    const place = passage - first
    if (place >= blockSize) break
    const before = scores[place] ?? 0
    if (before === 0) found[count++] = place
    const frequency = frequencies[next] ?? 0
    const penalty = lengths.penaltyOf[lengths.ofPassage[passage] ?? 0] ?? 0
    scores[place] = before + weight * ((frequency * (k1 + 1)) / (frequency + penalty))
  }
  block.count = count
  cursor.next = next
}

/** Moves the scores of a block into the list of the best, and clears it. */
const collect = (block: Block, first: number, top: Array<Hit>, topK: number): void => {
  for (let i = 0; i < block.count; i++) {
    const place = block.found[i] ?? 0
    keep(top, first + place, block.scores[place] ?? 0, topK)
    block.scores[place] = 0
  }
  block.count = 0
}

const keep = (top: Array<Hit>, passage: number, score: number, topK: number): void => {
  const last = top[topK - 1]
  if (last !== undefined && !precedes(score, passage, last)) return
  let place = top.length
  for (let above = top[place - 1]; above !== undefined && precedes(score, passage, above); above = top[place - 1])
    place--
  top.splice(place, 0, { passage, score })
  if (top.length > topK) top.pop()
}

const precedes = (score: number, passage: number, other: Hit): boolean =>
  score > other.score || (score === other.score && passage < other.passage)
