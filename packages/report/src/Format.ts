/** Numbers as texts. */

/** A share in [0, 1]: `52.5 %`; a dash if it is not known. */
export const percent = (value: number | null | undefined, digits = 1): string =>
  value === null || value === undefined ? "–" : `${(100 * value).toFixed(digits)} %`

/** A difference of shares in percentage points: `+12.5`. */
export const points = (value: number): string => {
  const size = Math.abs(100 * value).toFixed(1)
  return `${value < 0 && Number(size) > 0 ? "−" : "+"}${size}`
}

/** A difference in points with its 95 % interval, where it is known: `+26.4 points [+21.2, +31.4]`. */
export const inPoints = (difference: number, ci95: readonly [low: number, high: number] | null): string =>
  `${points(difference)} points${ci95 === null ? "" : ` ${interval(ci95, points)}`}`

/** `[41.0 %, 63.0 %]`, of numbers as `show` writes them. */
export const interval = ([low, high]: readonly [low: number, high: number], show: (value: number) => string): string =>
  `[${show(low)}, ${show(high)}]`

/** A whole number with groups of three digits. */
export const count = (value: number): string => Math.round(value).toLocaleString("en-US")

/** A large number, shortened: `1.24 M`. */
export const compact = (value: number): string => {
  if (Math.abs(value) < 10_000) return count(value)
  const [scale, unit] = Math.abs(value) < 1e6 ? [1e3, "k"] : Math.abs(value) < 1e9 ? [1e6, "M"] : [1e9, "G"]
  return `${Number((value / scale).toPrecision(3))} ${unit}`
}

/** A measured value of any size. */
export const quantity = (value: number | null | undefined): string => {
  if (value === null || value === undefined) return "–"
  if (value === 0) return "0"
  const size = Math.abs(value)
  if (size >= 10_000) return compact(value)
  if (size >= 100) return value.toFixed(0)
  if (size >= 1) return value.toFixed(2)
  return size >= 0.001 ? value.toFixed(4) : value.toExponential(1)
}

/** A number with two decimals, or with none from 100 on. */
export const decimals = (value: number): string => value.toFixed(Math.abs(value) < 100 ? 2 : 0)

/** A value on an axis, without needless digits. */
export const axis = (value: number | null): string =>
  value === null ? "–" : Math.abs(value) >= 10_000 ? compact(value) : String(Number(value.toPrecision(3)))

/** A number with a noun: `1 call`, `2 calls`. */
export const plural = (value: number, word: string): string => `${count(value)} ${word}${value === 1 ? "" : "s"}`

/** `48 s`, `3 min 05 s`, `2 h 07 min`. */
export const duration = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds))
  const two = (value: number) => String(value).padStart(2, "0")
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`
  return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`
}

/** The text with a capital first letter. */
export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** US dollars. */
export const dollars = (value: number): string => `$${value.toFixed(value !== 0 && value < 1 ? 4 : 2)}`
