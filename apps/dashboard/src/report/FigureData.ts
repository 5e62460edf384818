/** What the figures of a report show. */
import type { Bounds } from "../Axis.ts"
import type { Mark } from "../view/OverviewView.ts"

/** Values over steps; null if a step has none. */
export interface Line {
  readonly label: string
  readonly values: ReadonlyArray<number | null>
  /** Lower and upper ends around the values, usually 95 % intervals, drawn as an area. */
  readonly band?: ReadonlyArray<readonly [low: number, high: number] | null>
  /** A colour of the report's style: `accent`, `faint`, or `c0` to `c7`. */
  readonly tone: string
}

/** Curves over steps, with the decisions about the population. */
export interface Figure extends Bounds {
  readonly title: string
  readonly steps: ReadonlyArray<number>
  readonly curves: ReadonlyArray<Line>
  readonly marks?: ReadonlyArray<Mark>
  readonly format?: (value: number) => string
}
