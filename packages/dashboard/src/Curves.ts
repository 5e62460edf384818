/** The looks of curves in one chart: they differ in colour, then in dashes. */

import { inkOf } from "./Colour.ts"
import type { Line } from "./Figure.ts"

/** The most runs that are compared at once: the number of pairs of a colour and a dash pattern. */
export const mostCompared = 40

export interface Look {
  /** A colour of the page and of reports: `accent`, `faint`, or `c0` to `c7`. */
  readonly tone: string
  /** Lengths of drawn and empty stretches in pixels; none for a solid line. */
  readonly dash: ReadonlyArray<number>
}

/**
 * The look of the curve number `index`, from 0; different for each index below {@link mostCompared}. Of several metrics of a run, the
 * number `metric` has the run's colour and other dashes.
 */
export const look = (index: number, metric = 0): Look => ({
  tone: `c${index % colours}`,
  dash: dashes[(Math.floor(index / colours) + metric) % dashes.length] ?? []
})

/** The CSS colour of a curve on the page: that of its instruction, or of its tone. */
export const colourOf = ({ instruction, tone }: Pick<Line, "instruction" | "tone">): string =>
  instruction === undefined ? `var(--${/^c\d$/u.test(tone) ? `curve-${tone.slice(1)}` : tone})` : inkOf(instruction)

const colours = 8

const dashes: ReadonlyArray<ReadonlyArray<number>> = [[], [10, 4], [2, 3], [10, 3, 2, 3], [16, 6]]
