/** The figures of a population over steps: how often each instruction is drawn, its value, and its gain. */
import type { Difference } from "@inspo/population"
import { percent, points } from "@inspo/report"
import type { Figure, Horizontal, Line } from "./Figure.ts"
import { look } from "./Curves.ts"
import type { Mark } from "./view/OverviewView.ts"

/** An instruction with its values at each step from the position `from` on. */
interface Life<A> {
  readonly id: string
  readonly from: number
  readonly values: ReadonlyArray<A | null>
}

interface Course<A> extends Pick<Figure, "title"> {
  readonly lives: ReadonlyArray<Life<A>>
  readonly steps: ReadonlyArray<number>
  readonly marks?: ReadonlyArray<Mark>
  /** What steps are called, in place of "Step". */
  readonly unit?: string
  readonly label: (id: string) => string
}

/** Probabilities, stacked to 100 %. */
export const probabilities = (course: Course<number>): Figure => ({
  ...shared(course, (value) => value),
  isStacked: true,
  format: (value) => percent(value, 0)
})

/** Values in [0, 1], each a curve. */
export const values = (course: Course<number>): Figure => ({
  ...shared(course, (value) => value),
  fromZero: true,
  most: 1,
  format: (value) => percent(value, 0)
})

/** Differences to the first prompt, with the interval of one instruction. */
export const gains = (course: Course<Difference.Difference>, shown: string): Figure => {
  const figure = shared(course, ({ mean }) => mean)
  return {
    ...figure,
    curves: figure.curves.flatMap((line, place): ReadonlyArray<Line> => {
      const life = course.lives[place]
      if (line.values.every((value) => value === null) || life === undefined) return []
      const band = along(course.steps, life, ({ lower, upper }) => [lower, upper] as const)
      return [line.instruction === shown ? { ...line, band } : line]
    }),
    note: `With the 95 % interval of ${shown}.`,
    fromZero: true,
    most: 1,
    format: (value) => (value === 0 ? "0" : points(value).replace(/\.0$/u, "")),
    show: points
  }
}

/** Instructions that a legend names. */
const mostNamed = 5

const shared = <A>({ label, lives, marks = [], steps, title, unit }: Course<A>, value: (one: A) => number): Figure => ({
  title,
  steps,
  marks,
  named: mostNamed,
  vertical: title,
  ...(unit === undefined ? {} : { horizontal: { title: unit, format: String } satisfies Horizontal }),
  curves: lives.map((life, index) => ({
    label: label(life.id),
    instruction: life.id,
    tone: look(index).tone,
    values: along(steps, life, value)
  }))
})

const along = <A, B>(steps: ReadonlyArray<number>, { from, values }: Life<A>, of: (one: A) => B) =>
  steps.map((_, index) => {
    const value = values[index - from] ?? null
    return value === null ? null : of(value)
  })
