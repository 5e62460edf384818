/** The sentences by which two instructions differ, each in its order. */
export interface Change {
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
}

export const change = (from: string, to: string): Change => {
  const before = sentences(from)
  const after = sentences(to)
  return {
    added: after.filter((sentence) => !before.includes(sentence)),
    removed: before.filter((sentence) => !after.includes(sentence))
  }
}

const sentences = (text: string): ReadonlyArray<string> =>
  text
    .split(/(?<=[.!?])\s+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "")
