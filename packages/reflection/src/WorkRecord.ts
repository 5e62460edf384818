/**
 * What an agent did under an instruction, as far as it was reported, with its score in [0, 1]: what it was asked, what was said and
 * done, what was said of it, and the answers that would have been right.
 */
export interface WorkRecord {
  readonly score: number
  readonly task?: string | undefined
  readonly transcript?: string | ReadonlyArray<{ readonly role: string; readonly content: string }> | undefined
  readonly feedback?: string | undefined
  readonly expected?: ReadonlyArray<string> | undefined
}
