/** A map that keeps only the entries that were set last. */
export interface Recent<A> {
  readonly get: (key: string) => A | undefined
  readonly set: (key: string, value: A) => void
}

export const make = <A>(capacity: number): Recent<A> => {
  const entries = new Map<string, A>()
  return {
    get: (key) => entries.get(key),
    set: (key, value) => {
      entries.delete(key)
      entries.set(key, value)
      const [oldest] = entries.keys()
      if (entries.size > capacity && oldest !== undefined) entries.delete(oldest)
    }
  }
}
