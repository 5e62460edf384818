/** A small fault in the text of a source file: `text` occurs there exactly once and becomes `replacement`. */
export interface Mutation {
  readonly file: string
  readonly text: string
  readonly replacement: string
  /** What the fault breaks. */
  readonly breaks: string
}

/** Faults in one file. */
export const inFile =
  (file: string) =>
  (text: string, replacement: string, breaks: string): Mutation => ({ file, text, replacement, breaks })
