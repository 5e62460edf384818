/** The keys and values of a sequence's tokens. */
interface CachedSequence {
  readonly tokens: ReadonlyArray<number>
  readonly keyValues: SharedArrayBuffer
}

/** Sequences decoded under the present weights, for prompts that extend them. Beyond `capacity` bytes the oldest go. */
export class PrefixCache {
  private readonly capacity: number
  private readonly sequences = new Map<number, CachedSequence>()
  private size = 0

  constructor(capacity: number) {
    this.capacity = capacity
  }

  /** Keeps `sequence`, which needs at least one token. */
  add(sequence: CachedSequence): void {
    const key = sequence.tokens.reduce(extendHash, 0)
    this.drop(key)
    this.sequences.set(key, sequence)
    this.size += sequence.keyValues.byteLength
    for (const oldest of this.sequences.keys()) {
      if (this.size <= this.capacity) break
      this.drop(oldest)
    }
  }

  /** The longest kept sequence that is a proper prefix of `prompt`. */
  longestPrefix(prompt: ReadonlyArray<number>): CachedSequence | undefined {
    let hash = 0
    let longest: CachedSequence | undefined
    for (let length = 1; length < prompt.length; length++) {
      hash = extendHash(hash, prompt[length - 1] ?? 0)
      const found = this.sequences.get(hash)
      if (found?.tokens.length === length && found.tokens.every((token, at) => token === prompt[at])) longest = found
    }
    return longest
  }

  clear(): void {
    this.sequences.clear()
    this.size = 0
  }

  private drop(key: number): void {
    this.size -= this.sequences.get(key)?.keyValues.byteLength ?? 0
    this.sequences.delete(key)
  }
}

/** FNV-1a over whole tokens. A collision costs a hit, never a wrong one: tokens are compared. */
const extendHash = (hash: number, token: number): number => Math.imul(hash ^ (token + 1), 0x01000193) ^ (hash >>> 15)
