/** The standard normal distribution. */
import { errorFunction } from "simple-statistics"
import type { RandomStream } from "@inspo/domain"

/** Φ. */
export const phi = (at: number): number => (1 + errorFunction(at / Math.SQRT2)) / 2

/** Its density. */
export const density = (at: number): number => Math.exp((-at * at) / 2) / Math.sqrt(2 * Math.PI)

/** Φ⁻¹. */
export const quantile = (share: number): number => bisect(-6, 6, (at) => phi(at) < share)

/** A draw (Box and Muller 1958). */
export const draw = ({ next }: RandomStream.RandomStream): number =>
  Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())

/** Where a rising function crosses: `isBelow` holds before that. */
const bisect = (low: number, high: number, isBelow: (at: number) => boolean): number => {
  let [least, most] = [low, high]
  for (let turn = 0; turn < 45; turn++) {
    const middle = (least + most) / 2
    if (isBelow(middle)) least = middle
    else most = middle
  }
  return (least + most) / 2
}
