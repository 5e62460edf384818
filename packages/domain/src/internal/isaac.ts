/**
 * ISAAC (Bob Jenkins, 1996, public domain) from a text, as 32-bit integers with a sign. A block of 256 words is read from its
 * end. Words and order are those of the seeded `Random` of effect 4.1; they stay the same if effect changes its generator.
 */
export const isaac = (seed: string): (() => number) => {
  const memory = seeded(seed)
  const block = new Int32Array(size)
  let accumulator = 0
  let last = 0
  let blocks = 0
  let left = 0
  const refill = (): void => {
    blocks = (blocks + 1) | 0
    last = (last + blocks) | 0
    for (let index = 0; index < size; index++) {
      const x = at(memory, index)
      accumulator = ((accumulator ^ shifted(accumulator, index & 3)) + at(memory, index + 128)) | 0
      const y = (at(memory, x >>> 2) + accumulator + last) | 0
      memory[index] = y
      last = (at(memory, y >>> 10) + x) | 0
      block[index] = last
    }
    left = size
  }
  return () => {
    if (left === 0) refill()
    return at(block, --left)
  }
}

const size = 256

const at = (words: Int32Array, index: number): number => words[index & (size - 1)] ?? 0

const shifted = (word: number, turn: number): number =>
  turn < 2 ? (turn === 0 ? word << 13 : word >>> 6) : turn === 2 ? word << 2 : word >>> 16

const encoder = new TextEncoder()

/** The initial memory of a generator; bytes of the text beyond its size are added from its start. */
const seeded = (seed: string): Int32Array => {
  const memory = new Int32Array(size)
  encoder.encode(seed).forEach((byte, index) => {
    memory[(index >>> 2) & (size - 1)] = at(memory, index >>> 2) + (byte << (8 * (index & 3)))
  })
  const state = new Int32Array(8).fill(0x9e3779b9)
  for (let round = 0; round < 4; round++) mix(state)
  // The second pass makes each word of the seed affect all of the memory.
  for (let start = 0; start < 2 * size; start += 8) {
    for (let word = 0; word < 8; word++) state[word] = at(state, word) + at(memory, start + word)
    mix(state)
    memory.set(state, start & (size - 1))
  }
  return memory
}

const mix = (state: Int32Array): void => {
  for (let word = 0; word < 8; word++) {
    const next = at(state, (word + 1) & 7)
    const by = at(shifts, word)
    const mixed = at(state, word) ^ ((word & 1) === 0 ? next << by : next >>> by)
    state[word] = mixed
    state[(word + 3) & 7] = at(state, (word + 3) & 7) + mixed
    state[(word + 1) & 7] = next + at(state, (word + 2) & 7)
  }
}

const shifts = Int32Array.of(11, 2, 8, 16, 10, 4, 8, 9)
