/** Where the axis of a figure begins and ends. */

/** `fromZero` begins it there; `most` is what no value can exceed, such as 1 for a share. */
export interface Bounds {
  readonly fromZero?: boolean
  readonly most?: number
}

/** The ends of an axis for values between two others, never equal: with some room, but none where no value can be. */
export const ends = (
  low: number,
  high: number,
  { fromZero = false, most = Infinity }: Bounds = {}
): [number, number] => {
  const room = (high - low) * 0.08 || Math.abs(high) * 0.1 || Math.min(1, most)
  const bottom = fromZero ? Math.min(0, low) : low >= 0 ? Math.max(0, low - room) : low - room
  return [bottom, high <= most ? Math.min(most, high + room) : high + room]
}
