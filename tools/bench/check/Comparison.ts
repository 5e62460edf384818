/** Compares a measured figure with its baseline, and checks whether a cost grows linearly. */
import { Data, Schema } from "effect"

const Positive = Schema.Finite.check(Schema.isGreaterThan(0))

/** A measured figure that depends as little as possible on the machine. */
export const Level = Schema.TaggedStruct("Level", {
  part: Schema.String,
  name: Schema.String,
  unit: Schema.String,
  value: Schema.Finite,
  better: Schema.Literals(["less", "more"]),
  /** The tolerance of a new baseline: how much worse the figure may become, as a share. */
  tolerance: Positive
})
export interface Level extends Schema.Schema.Type<typeof Level> {}

/** The cost of an item at the size `to` divided by its cost at the size `from`: 1 if the cost is linear. */
export const Growth = Schema.TaggedStruct("Growth", {
  part: Schema.String,
  name: Schema.String,
  /** The items, and what the sizes count. */
  items: Schema.String,
  scale: Schema.String,
  from: Schema.Int,
  to: Schema.Int,
  value: Schema.Finite,
  /** The highest value that passes. */
  bound: Positive
})
export interface Growth extends Schema.Schema.Type<typeof Growth> {}

export const Figure = Schema.Union([Level, Growth])
export type Figure = typeof Figure.Type

/** A stored level; `tolerance` is how much worse it may become, as a share. */
export const Baseline = Schema.Struct({
  part: Schema.String,
  name: Schema.String,
  unit: Schema.String,
  value: Positive,
  tolerance: Positive
})
export interface Baseline extends Schema.Schema.Type<typeof Baseline> {}

/** `factor` is how many times worse a level is than its baseline. */
export type Verdict = Data.TaggedEnum<{
  readonly Kept: { readonly factor: number }
  readonly Better: { readonly factor: number }
  readonly Worse: { readonly factor: number; readonly baseline: Baseline }
  readonly Linear: {}
  readonly Superlinear: {}
  readonly Unknown: {}
}>
export const Verdict = Data.taggedEnum<Verdict>()

/**
 * A level is worse, or better, when it differs from its baseline by more than a factor of 1 + tolerance; one without a
 * baseline of its unit is unknown. A growth is compared with its bound. A value that is not positive never passes.
 */
export const judge = (figure: Figure, baselines: ReadonlyArray<Baseline>): Verdict => {
  if (figure._tag === "Growth")
    return isPositive(figure.value) && figure.value <= figure.bound ? Verdict.Linear() : Verdict.Superlinear()
  const baseline = baselineOf(baselines, figure)
  if (baseline === undefined) return Verdict.Unknown()
  const factor = figure.better === "less" ? figure.value / baseline.value : baseline.value / figure.value
  const allowed = 1 + baseline.tolerance
  if (!isPositive(figure.value) || factor > allowed) return Verdict.Worse({ factor, baseline })
  return factor < 1 / allowed ? Verdict.Better({ factor }) : Verdict.Kept({ factor })
}

/** The baseline of a level. */
export const baselineOf = (baselines: ReadonlyArray<Baseline>, figure: Figure): Baseline | undefined =>
  baselines.find((one) => isBaselineOf(one, figure))

export const passes = ({ _tag }: Verdict): boolean => _tag !== "Worse" && _tag !== "Superlinear" && _tag !== "Unknown"

/** The better of two measurements of a figure, since disturbances only make it worse. */
export const best = <A extends Figure>(one: A, other: A): A => {
  if (!isPositive(one.value)) return other
  const isLess = other.value < one.value
  return isPositive(other.value) && isLess === (one._tag === "Growth" || one.better === "less") ? other : one
}

/** The problem of a figure in a sentence; null without one. */
export const complaint = (figure: Figure, verdict: Verdict): string | null => {
  const name = `${figure.part}: ${figure.name}`
  switch (verdict._tag) {
    case "Worse":
      return (
        `${name} is ${verdict.factor.toFixed(2)} times worse than its baseline of ${short(verdict.baseline.value)} ` +
        `${verdict.baseline.unit}, expected at most ${short(1 + verdict.baseline.tolerance)} times.`
      )
    case "Superlinear":
      return figure._tag === "Growth"
        ? `${name} grows faster than its work: one of its ${figure.items} costs ${short(figure.value)} times as much ` +
            `at ${figure.to} ${figure.scale} as at ${figure.from}, expected at most ${short(figure.bound)} times.`
        : null
    case "Unknown":
      return `${name} has no baseline. Record one with \`bench --check --update ${figure.part}\`.`
    default:
      return null
  }
}

/**
 * The baselines after a measurement of whole parts: levels of these parts get their new values, keep their tolerance if the
 * unit is the same, and are removed if they are not measured any more. Sorted by part and name.
 */
export const update = (baselines: ReadonlyArray<Baseline>, figures: ReadonlyArray<Figure>): ReadonlyArray<Baseline> => {
  const parts = new Set(figures.map(({ part }) => part))
  const renewed = figures.flatMap((figure): ReadonlyArray<Baseline> => {
    if (figure._tag === "Growth") return []
    const { name, part, unit, value } = figure
    const tolerance = baselineOf(baselines, figure)?.tolerance ?? figure.tolerance
    return [{ part, name, unit, value, tolerance }]
  })
  return [...baselines.filter(({ part }) => !parts.has(part)), ...renewed].sort(
    (a, b) => a.part.localeCompare(b.part, "en") || a.name.localeCompare(b.name, "en")
  )
}

/** Baselines of the measured parts that no figure uses. */
export const forgotten = (
  baselines: ReadonlyArray<Baseline>,
  figures: ReadonlyArray<Figure>
): ReadonlyArray<Baseline> => {
  const parts = new Set(figures.map(({ part }) => part))
  return baselines.filter(
    (baseline) => parts.has(baseline.part) && !figures.some((figure) => isBaselineOf(baseline, figure))
  )
}

/** A number with three digits. */
export const short = (value: number): string => String(Number(value.toPrecision(3)))

const isPositive = (value: number): boolean => value > 0 && value < Infinity

const isBaselineOf = (baseline: Baseline, figure: Figure): boolean =>
  figure._tag === "Level" &&
  baseline.part === figure.part &&
  baseline.name === figure.name &&
  baseline.unit === figure.unit
