/** The figures of a report, as elements of its page. */
import { createElement as h, Fragment, type ReactElement } from "react"
import { ends, logEnds, logTicks, ticks } from "../Axis.ts"
import { instructionStyle } from "../Colour.ts"
import { axis as axisText, percent } from "@inspo/report"
import type { PopulationView } from "../view/PopulationView.ts"
import type { Figure, Line } from "./FigureData.ts"

const size = { width: 460, height: 190, left: 46, right: 10, top: 14, bottom: 24 }
/** Characters that fit into one line. */
const mostBesideTitle = 70
const lineHeight = 14
const inner = { width: size.width - size.left - size.right, height: size.height - size.top - size.bottom }

/** The figure with its title and the names of its curves, for a page with the report's {@link style}. */
export const lines = (figure: Figure): ReactElement =>
  h(
    "figure",
    { key: figure.title },
    h(
      "figcaption",
      null,
      h("b", null, figure.title),
      figure.curves.length > 1
        ? figure.curves.map(({ label, tone }) => h("span", { key: label, className: `key ${tone}` }, label))
        : null
    ),
    drawing(figure)
  )

/** The figure alone; with the names of its curves and the titles of its axes, for a file of its own. */
export const drawing = (
  {
    curves,
    format = axisText,
    fromZero = false,
    horizontal,
    isLog = false,
    marks = [],
    most = Infinity,
    steps,
    title,
    vertical
  }: Figure,
  alone?: { readonly xmlns: string; readonly style: string }
): ReactElement => {
  const known = curves.flatMap(({ band = [], values }) => [...values, ...band.flatMap((ends) => ends ?? [])])
  const values = known.filter((value) => value !== null)
  const extremes: [number, number] = [Math.min(...values), Math.max(...values)]
  const [low, high] =
    values.length === 0 ? [isLog ? 0.1 : 0, 1] : isLog ? logEnds(...extremes) : ends(...extremes, { fromZero, most })
  const first = steps[0] ?? 0
  const last = steps.at(-1) ?? 1
  const scale = isLog ? Math.log10 : (value: number) => value
  const span = horizontal === undefined ? Math.max(1, last - first) : last - first || 1
  const x = (step: number) => round(size.left + (inner.width * (step - first)) / span)
  const y = (value: number) =>
    round(size.top + inner.height * (1 - (scale(value) - scale(low)) / (scale(high) - scale(low))))
  const above = alone === undefined ? 0 : headingHeight(title, curves)
  const beside = alone === undefined || vertical === undefined ? 0 : lineHeight + 4
  return h(
    "svg",
    {
      xmlns: alone?.xmlns,
      viewBox: `${-beside} ${-above} ${size.width + beside} ${size.height + above + beside}`,
      role: "img",
      "aria-label": title
    },
    alone === undefined ? null : heading(title, curves, alone.style),
    beside === 0 ? null : axisTitles(horizontal?.title ?? "Step", vertical ?? ""),
    shown(marks, first, last).map(({ kind, step }, index) =>
      h("line", {
        key: index,
        className: `mark ${kind}`,
        x1: x(step),
        x2: x(step),
        y1: size.top,
        y2: size.top + inner.height
      })
    ),
    (isLog ? logTicks(low, high) : ticks(low, high)).map((value) =>
      h(
        "g",
        { key: value },
        h("line", { className: "grid", x1: size.left, x2: size.width - size.right, y1: y(value), y2: y(value) }),
        h("text", { x: size.left - 6, y: y(value) + 4, textAnchor: "end" }, format(value))
      )
    ),
    ticks(first, last)
      .filter((step) => horizontal !== undefined || Number.isInteger(step))
      .map((step) =>
        h(
          "text",
          { key: `step ${step}`, x: x(step), y: size.height - 6, textAnchor: "middle" },
          horizontal === undefined ? step : horizontal.format(step)
        )
      ),
    curves.map(({ band, label, tone }) =>
      band === undefined
        ? null
        : h("polygon", { key: label, className: `band ${tone}`, points: area(band, steps, x, y) })
    ),
    curves.map(({ dash, label, tone, values }) => {
      const points = values.flatMap((value, index) => (value === null ? [] : [`${x(steps[index] ?? 0)},${y(value)}`]))
      return h(Fragment, { key: label }, curve(tone, dash, points.join(" ")))
    })
  )
}

/** What the axes count: below the horizontal one, and along the vertical one. */
const axisTitles = (horizontal: string, vertical: string): ReactElement =>
  h(
    Fragment,
    null,
    h("text", { x: size.left + inner.width / 2, y: size.height + lineHeight - 4, textAnchor: "middle" }, horizontal),
    h(
      "text",
      { transform: `rotate(-90) translate(${-(size.top + inner.height / 2)} -4)`, textAnchor: "middle" },
      clipped(vertical)
    )
  )

/** A title that fits the height of the axis. */
const clipped = (text: string): string => (text.length <= mostAlong ? text : `${text.slice(0, mostAlong - 1)}…`)
const mostAlong = 28

const hasDash = (curves: Figure["curves"]): boolean => curves.some(({ dash = [] }) => dash.length > 0)

const curve = (tone: string, dash: Line["dash"] = [], points: string): ReactElement =>
  h("polyline", { className: `curve ${tone}`, strokeDasharray: dash.length === 0 ? undefined : dash.join(" "), points })

/** Whether the names are below the title, each in a line. Dashes are only shown there. */
const isListed = (title: string, curves: Figure["curves"]): boolean =>
  hasDash(curves) || [title, ...curves.map(({ label }) => label)].join("  ").length > mostBesideTitle

const headingHeight = (title: string, curves: Figure["curves"]): number =>
  18 + (isListed(title, curves) ? lineHeight * curves.length : 0)

/** The title with the names of the curves: beside it, or below it where they are long. */
const heading = (title: string, curves: Figure["curves"], style: string): ReactElement => {
  const first = 14 - headingHeight(title, curves)
  return h(
    Fragment,
    null,
    h("style", { dangerouslySetInnerHTML: { __html: style } }),
    h("text", { x: 4, y: first, className: "title" }, title),
    isListed(title, curves)
      ? curves.map(({ dash, label, tone }, index) => {
          const y = first + lineHeight * (index + 1)
          return h(
            Fragment,
            { key: label },
            hasDash(curves) ? curve(tone, dash, `4,${y - 4} 34,${y - 4}`) : null,
            h("text", { x: hasDash(curves) ? 40 : 4, y, className: `name ${tone}` }, label)
          )
        })
      : h(
          "text",
          { x: size.width - size.right, y: first, textAnchor: "end" },
          curves.map(({ label, tone }, index) =>
            h("tspan", { key: label, className: `name ${tone}`, dx: index === 0 ? 0 : 12 }, label)
          )
        )
  )
}

const area = (
  band: NonNullable<Line["band"]>,
  steps: ReadonlyArray<number>,
  x: (step: number) => number,
  y: (value: number) => number
): string => {
  const known = band.flatMap((ends, index) => (ends === null ? [] : [{ at: x(steps[index] ?? 0), ends }]))
  const upper = known.map(({ at, ends }) => `${at},${y(ends[1])}`)
  const lower = known.map(({ at, ends }) => `${at},${y(ends[0])}`)
  return [...upper, ...lower.toReversed()].join(" ")
}

/** Probabilities stacked to 100 %, a band for each instruction; those that are drawn most at the end are named by `label`. */
export const bands = ({ lives, steps }: PopulationView, label: (id: string) => string): ReactElement => {
  const width = 620
  const across = width - size.left - size.right
  const step = across / Math.max(1, steps.length)
  const base = steps.map(() => 0)
  const y = (share: number) => round(size.top + inner.height * (1 - share))
  const shapes = lives.map(({ from, id, probabilities }) => {
    const upper: Array<string> = []
    const lower: Array<string> = []
    for (const [offset, probability] of probabilities.entries()) {
      const index = from + offset
      const low = base[index] ?? 0
      const high = low + (probability ?? 0)
      base[index] = high
      const left = round(size.left + step * index)
      const right = round(size.left + step * (index + 1))
      upper.push(`${left},${y(high)}`, `${right},${y(high)}`)
      lower.unshift(`${right},${y(low)}`, `${left},${y(low)}`)
    }
    return h(
      "polygon",
      { key: id, points: [...upper, ...lower].join(" "), className: "ribbon", style: instructionStyle(id) },
      h("title", null, label(id))
    )
  })
  return h(
    "figure",
    { className: "wide" },
    h(
      "figcaption",
      null,
      h("b", null, "Probability of being drawn, by instruction"),
      lives
        .flatMap(({ from, id, probabilities }) => {
          const probability = probabilities[steps.length - 1 - from]
          return probability === null || probability === undefined ? [] : [{ id, probability }]
        })
        .toSorted((one, other) => other.probability - one.probability)
        .slice(0, mostNamed)
        .map(({ id, probability }) =>
          h(
            "span",
            { key: id, className: "key ribbon", style: instructionStyle(id) },
            `${label(id)} ${percent(probability, 0)}`
          )
        )
    ),
    h(
      "svg",
      {
        viewBox: `0 0 ${width} ${size.height}`,
        role: "img",
        "aria-label": "Probability of being drawn, by instruction"
      },
      [0, 0.5, 1].map((share) =>
        h("text", { key: share, x: size.left - 6, y: y(share) + 4, textAnchor: "end" }, `${100 * share} %`)
      ),
      shapes,
      ticks(steps[0] ?? 0, steps.at(-1) ?? 1)
        .filter((one) => Number.isInteger(one))
        .map((one) =>
          h(
            "text",
            {
              key: `step ${one}`,
              x: size.left + step * (one - (steps[0] ?? 0) + 0.5),
              y: size.height - 6,
              textAnchor: "middle"
            },
            one
          )
        )
    )
  )
}

/** Instructions in the legend of the bands. */
const mostNamed = 5

/** A share with its interval on a scale from 0 to 1. */
export const interval = (mean: number, [low, high]: readonly [number, number]): ReactElement =>
  h(
    "svg",
    { className: "interval", viewBox: "0 0 200 14", "aria-hidden": true },
    h("line", { className: "grid", x1: 0, x2: 200, y1: 7, y2: 7 }),
    h("rect", { className: "range", x: 200 * low, width: Math.max(1, 200 * (high - low)), y: 4, height: 6, rx: 3 }),
    h("rect", { className: "mean", x: 200 * mean - 1.5, width: 3, y: 0, height: 14, rx: 1 })
  )

/** The decisions within the steps of a figure; only evolutions if there are many. */
const shown = (marks: NonNullable<Figure["marks"]>, first: number, last: number): NonNullable<Figure["marks"]> => {
  const within = marks.filter(({ step }) => step >= first && step <= last)
  return within.length > mostMarks ? within.filter(({ kind }) => kind === "evolve") : within
}

const mostMarks = 40

const round = (value: number): number => Math.round(value * 10) / 10
