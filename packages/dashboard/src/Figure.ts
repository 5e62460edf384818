/** What the charts of the page and the figures of reports show. */
import type { Bounds } from "./Axis.ts"
import type { Mark } from "./view/OverviewView.ts"

/** Values over steps; null if a step has none. */
export interface Line {
  readonly label: string
  readonly values: ReadonlyArray<number | null>
  /** Lower and upper ends around the values, usually 95 % intervals, drawn as an area. */
  readonly band?: ReadonlyArray<readonly [low: number, high: number] | null>
  /** A colour of the report's style: `accent`, `faint`, or `c0` to `c7`. */
  readonly tone: string
  /** The instruction whose colour the curve has on the page, in place of the tone. */
  readonly instruction?: string
  /** Lengths of drawn and empty stretches; none for a solid line. */
  readonly dash?: ReadonlyArray<number>
}

/** Curves over steps, with the decisions about the population. */
export interface Figure extends Bounds {
  readonly title: string
  /** The positions on the horizontal axis, ascending: steps, or what {@link Figure.horizontal} says. */
  readonly steps: ReadonlyArray<number>
  readonly curves: ReadonlyArray<Line>
  /** Whether the curves are shares, each an area above those before it. */
  readonly isStacked?: boolean
  /** The number of curves that the legend names, those with the highest values; all when absent. */
  readonly named?: number
  readonly marks?: ReadonlyArray<Pick<Mark, "kind"> & { readonly step: number }>
  /** Values of the vertical axis. */
  readonly format?: (value: number) => string
  /** Values beside the title of a chart; `format` when absent. */
  readonly show?: (value: number) => string
  /** The horizontal axis if it does not count steps. */
  readonly horizontal?: Horizontal
  /** The title of the vertical axis in a separate file, with its unit. */
  readonly vertical?: string
  /** Whether the vertical axis is logarithmic; all values are positive. */
  readonly isLog?: boolean
  /** What the figure leaves out, in words. */
  readonly note?: string
}

/** A horizontal axis: its title with the unit, and how its positions are written. */
export interface Horizontal {
  readonly title: string
  readonly format: (value: number) => string
}
