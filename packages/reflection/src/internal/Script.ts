/** In which letters a text is written. */

/** Letters that are written together, under one name. */
const scripts = {
  latin: /\p{Script=Latin}/gu,
  cyrillic: /\p{Script=Cyrillic}/gu,
  greek: /\p{Script=Greek}/gu,
  chineseOrJapanese: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu,
  hangul: /\p{Script=Hangul}/gu,
  arabic: /\p{Script=Arabic}/gu,
  hebrew: /\p{Script=Hebrew}/gu,
  devanagari: /\p{Script=Devanagari}/gu,
  thai: /\p{Script=Thai}/gu
}

/** Other letters up to this share are names and quotations. */
const tolerated = 0.25

/** Whether more letters of a text than {@link tolerated} are of scripts that `own` hardly uses. Tags do not count. */
export const isForeignTo = (own: string): ((text: string) => boolean) => {
  const used = shares(own)
  const foreign = Object.keys(scripts).filter((name) => (used.get(name) ?? 0) <= tolerated)
  return (text) => {
    const found = shares(text)
    return used.size > 0 && foreign.reduce((total, name) => total + (found.get(name) ?? 0), 0) > tolerated
  }
}

/** The share of each script in the letters of a text. */
const shares = (text: string): ReadonlyMap<string, number> => {
  const plain = text.replace(/<[^<>]*>/gu, "")
  const counts = Object.entries(scripts).map(([name, letters]) => [name, plain.match(letters)?.length ?? 0] as const)
  const total = counts.reduce((sum, [, count]) => sum + count, 0)
  return new Map(total === 0 ? [] : counts.map(([name, count]) => [name, count / total]))
}
