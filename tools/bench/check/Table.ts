import { type Baseline, baselineOf, type Figure, short, type Verdict } from "./Comparison.ts"

interface Judged {
  readonly figure: Figure
  readonly verdict: Verdict
}

/** Every figure with its baseline or bound, one per line. */
export const table = (judged: ReadonlyArray<Judged>, baselines: ReadonlyArray<Baseline>): string => {
  const rows = [["part", "figure", "measured", "compared with", "verdict"], ...judged.map((one) => row(one, baselines))]
  const widths = rows.reduce<ReadonlyArray<number>>(
    (widths, cells) => cells.map((cell, column) => Math.max(cell.length, widths[column] ?? 0)),
    []
  )
  return rows
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

const row = ({ figure, verdict }: Judged, baselines: ReadonlyArray<Baseline>): ReadonlyArray<string> => {
  if (figure._tag === "Growth") {
    const { bound, from, name, part, scale, to, value } = figure
    return [part, `${name}, ${from} → ${to} ${scale}`, `× ${short(value)} each`, `at most ${bound}`, wording(verdict)]
  }
  const { name, part, unit, value } = figure
  const baseline = baselineOf(baselines, figure)
  const compared = baseline === undefined ? "nothing" : `${short(baseline.value)} ± ${100 * baseline.tolerance} %`
  return [part, `${name}, ${unit}`, short(value), compared, wording(verdict)]
}

const wording = (verdict: Verdict): string => {
  switch (verdict._tag) {
    case "Kept":
      return `kept (× ${verdict.factor.toFixed(2)})`
    case "Better":
      return `better (× ${verdict.factor.toFixed(2)})`
    case "Worse":
      return `WORSE (× ${verdict.factor.toFixed(2)})`
    case "Linear":
      return "linear"
    case "Superlinear":
      return "SUPERLINEAR"
    case "Unknown":
      return "NO BASELINE"
  }
}
