/** The ends and the ticks of the axis of a figure. */

/** `fromZero` starts the axis at 0; `most` is the largest possible value, such as 1 for a share. */
export interface Bounds {
  readonly fromZero?: boolean
  readonly most?: number
}

/** The ends of an axis for values between `low` and `high`, never equal, with some room inside the possible values. */
export const ends = (
  low: number,
  high: number,
  { fromZero = false, most = Infinity }: Bounds = {}
): [number, number] => {
  const room = (high - low) * 0.08 || Math.abs(high) * 0.1 || Math.min(1, most)
  const bottom = fromZero ? Math.min(0, low) : low >= 0 ? Math.max(0, low - room) : low - room
  return [bottom, high <= most ? Math.min(most, high + room) : high + room]
}

/** Round values between two ends, about `most` of them, 1, 2 or 5 times a power of ten apart. */
export const ticks = (low: number, high: number, most = 5): ReadonlyArray<number> => {
  const rough = Math.max((high - low) / most, Number.MIN_VALUE)
  const power = 10 ** Math.floor(Math.log10(rough))
  const distance = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10)
  const first = Math.ceil(low / distance)
  const last = Math.floor(high / distance)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) =>
    Number(((first + index) * distance).toPrecision(12))
  )
}

/** Possible distances of values on an axis: 1, 2 or 5 times a power of ten. */
export const distances: ReadonlyArray<number> = Array.from({ length: 30 }, (_, index) => index - 12).flatMap((power) =>
  [1, 2, 5].map((factor) => Number(`${factor}e${power}`))
)

/** The ends of a logarithmic axis for values between two positive ones, never equal, with some room. */
export const logEnds = (low: number, high: number): [number, number] => {
  const room = low < high ? (high / low) ** 0.08 : 2
  return [low / room, high * room]
}

/** Round values between two positive ends of a logarithmic axis: powers of ten, with 2 and 5 times them over few decades. */
export const logTicks = (low: number, high: number): ReadonlyArray<number> => {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))]
  const decades = Math.log10(high) - Math.log10(low)
  if (decades < 1) return ticks(low, high)
  const every = Math.ceil(decades / 6)
  const powers = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  return powers
    .filter((power) => power % every === 0)
    .flatMap((power) => (decades < 3 ? [1, 2, 5] : [1]).map((factor) => Number(`${factor}e${power}`)))
    .filter((value) => value >= low && value <= high)
}

/** Positions of labelled steps on an axis: at most `most`, at round numbers if there are any. */
export const stepTicks = (steps: ReadonlyArray<number>, most: number): ReadonlyArray<number> => {
  const span = (steps.at(-1) ?? 0) - (steps[0] ?? 0) + 1
  const every = distances.find((distance) => distance >= 1 && span / distance <= Math.max(2, most)) ?? span
  const round = steps.flatMap((step, index) => (step % every === 0 ? [index] : []))
  return round.length > 0 ? round : steps.length > 0 ? [0] : []
}
