/** Words with numbers in the order in which they were first met. */
export interface Vocabulary {
  /** The number of the word `text.slice(start, end)`, which joins the vocabulary if it is new. */
  readonly numberOf: (text: string, start: number, end: number) => number
  readonly words: ReadonlyArray<string>
}

/** A hash table that looks words up where they stand: a `Map` would need a string of its own for each occurrence. */
export const make = (): Vocabulary => {
  const words: Array<string> = []
  // Pairs of a word's number plus one, 0 where the slot is free, and its hash; at most half of the slots are taken.
  let slots = new Int32Array(2 * 2048)

  const numberOf = (text: string, start: number, end: number): number => {
    const hash = hashOf(text, start, end)
    let slot = first(slots, hash)
    for (let number = slots[slot] ?? 0; number !== 0; number = slots[slot] ?? 0) {
      if (slots[slot + 1] === hash) {
        const known = words[number - 1] ?? ""
        if (known.length === end - start && text.startsWith(known, start)) return number - 1
      }
      slot = next(slots, slot)
    }
    words.push(text.slice(start, end))
    slots[slot] = words.length
    slots[slot + 1] = hash
    if (4 * words.length > slots.length) slots = grown(slots)
    return words.length - 1
  }
  return { numberOf, words }
}

const first = (slots: Int32Array, hash: number): number => (2 * hash) & (slots.length - 1)

const next = (slots: Int32Array, slot: number): number => (slot + 2) & (slots.length - 1)

const grown = (slots: Int32Array): Int32Array<ArrayBuffer> => {
  const larger = new Int32Array(2 * slots.length)
  for (let slot = 0; slot < slots.length; slot += 2) {
    const number = slots[slot] ?? 0
    if (number === 0) continue
    const hash = slots[slot + 1] ?? 0
    let free = first(larger, hash)
    while (larger[free] !== 0) free = next(larger, free)
    larger[free] = number
    larger[free + 1] = hash
  }
  return larger
}

/** FNV-1a over UTF-16 code units, with its high bits mixed into the low ones. */
const hashOf = (text: string, start: number, end: number): number => {
  let hash = 0x811c9dc5
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash ^ (hash >>> 15)
}
