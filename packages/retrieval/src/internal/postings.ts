/** Passages that hold a word, ascending, and how often each does. */
export interface Postings {
  readonly passages: Uint32Array
  readonly frequencies: Uint32Array
}

/**
 * The postings from `start` to `end` as bytes: alternately the distance from the passage before (the first from -1) and
 * the frequency, as integers of seven bits a byte, low bits first. They are written to `scratch`.
 */
export const encode = (
  { frequencies, passages }: Postings,
  start: number,
  end: number,
  scratch: Uint8Array
): Uint8Array => {
  let length = 0
  let before = -1
  for (let i = start; i < end; i++) {
    const passage = passages[i] ?? 0
    length = put(scratch, length, passage - before)
    length = put(scratch, length, frequencies[i] ?? 0)
    before = passage
  }
  return scratch.subarray(0, length)
}

/** The most bytes that {@link encode} needs for one passage. */
export const bytesPerPosting = 10

/** Decodes a list into `target` from `at` on, passages counted from `first`; gives the place after the last. */
export const decode = (list: Uint8Array, first: number, target: Postings, at: number): number => {
  const { frequencies, passages } = target
  let passage = first - 1
  let place = at
  let i = 0
  while (i < list.length) {
    let byte = list[i++] ?? 0
    let value = byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = list[i++] ?? 0
      value |= (byte & 0x7f) << shift
    }
    passage += value
    passages[place] = passage
    byte = list[i++] ?? 0
    value = byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = list[i++] ?? 0
      value |= (byte & 0x7f) << shift
    }
    frequencies[place++] = value
  }
  return place
}

const put = (target: Uint8Array, at: number, value: number): number => {
  let place = at
  let rest = value
  while (rest > 0x7f) {
    target[place++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  target[place++] = rest
  return place
}
