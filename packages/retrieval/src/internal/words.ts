/** A text as an index sees it: without case and without diacritics. */
export const fold = (text: string): string => {
  const lower = text.toLowerCase()
  return beyondAscii.test(lower) ? lower.normalize("NFD").replace(diacritic, "") : lower
}

/** Where the words of a folded text start and end, alternately: runs of letters, digits and marks. */
export const wordBounds = (folded: string): ReadonlyArray<number> => {
  const bounds: Array<number> = []
  if (beyondAscii.test(folded)) {
    for (const { 0: found, index } of folded.matchAll(word)) bounds.push(index, index + found.length)
    return bounds
  }
  let start = -1
  for (let i = 0; i < folded.length; i++) {
    const code = folded.charCodeAt(i)
    if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) {
      if (start < 0) start = i
    } else if (start >= 0) {
      bounds.push(start, i)
      start = -1
    }
  }
  if (start >= 0) bounds.push(start, folded.length)
  return bounds
}

/** The distinct words of a text in the order of their first occurrence. */
export const distinctWords = (text: string): ReadonlyArray<string> => {
  const folded = fold(text)
  const bounds = wordBounds(folded)
  return [...new Set(bounds.flatMap((start, i) => (i % 2 === 0 ? [folded.slice(start, bounds[i + 1])] : [])))]
}

const beyondAscii = /\P{ASCII}/u
const diacritic = /[\u0300-\u036F]/gu
const word = /[\p{L}\p{N}\p{M}\p{Co}]+/gu
