/** Numbers and tables of the pages of studies. */
import { Markdown } from "@inspo/report"
import { Exact } from "@inspo/statistics"

/** A share in percentage points with one digit. */
export const points = (share: number): string => (100 * share).toFixed(1)

/** An interval in points; a dash without one. */
export const interval = ({ ci95 }: { readonly ci95: readonly [low: number, high: number] | null }): string =>
  ci95 === null ? "-" : `[${points(ci95[0])}, ${points(ci95[1])}]`

export const percent = (share: number): string => `${points(share)} %`

/** What is written of a value; a dash without one. */
export const orDash = <A>(value: A | null | undefined, write: (value: A) => string): string =>
  value === null || value === undefined ? "–" : write(value)

/** The mean of numbers with its interval, where there is one; a dash without numbers. */
export const estimated = (values: ReadonlyArray<number>, write: (value: number) => string): string =>
  orDash(
    Exact.estimate(values),
    ({ ci95, mean }) => `${write(mean)}${ci95 === null ? "" : ` [${write(ci95[0])}, ${write(ci95[1])}]`}`
  )

/** A table with a row for each item. A column has a title, and says what of an item it shows. */
export const table = <A>(
  items: ReadonlyArray<A>,
  columns: ReadonlyArray<readonly [title: string, cell: (item: A) => string]>
): ReadonlyArray<string> =>
  Markdown.table([columns.map(([title]) => title), ...items.map((item) => columns.map(([, cell]) => cell(item)))])
