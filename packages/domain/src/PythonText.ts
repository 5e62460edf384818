/** Text operations as Python does them, for results that have to equal those of Python programs. */

// White space as Python's `str.split` and `str.strip` see it: JavaScript's `\s` lacks U+001C to U+001F and U+0085 and
// has U+FEFF.
const whiteSpace = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+"

const inner = new RegExp(whiteSpace, "gu")
const leading = new RegExp(`^${whiteSpace}`, "u")
const trailing = new RegExp(`${whiteSpace}$`, "u")

/** `text.strip()` */
export const strip = (text: string): string => text.replace(leading, "").replace(trailing, "")

/** `text.split()` */
export const split = (text: string): ReadonlyArray<string> => {
  const stripped = strip(text)
  return stripped === "" ? [] : stripped.split(inner)
}
