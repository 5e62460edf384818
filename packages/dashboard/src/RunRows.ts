/** The rows of the list of runs: filtered, sorted, and grouped by seeds. Pure; the page shows them. */
import { Order } from "effect"
import { mean } from "./Means.ts"
import type { RunView } from "./view/RunView.ts"
import type { SettingsView } from "./view/SettingsView.ts"

/** A run with its settings that differ from those of others; its group is null until its settings are known. */
export interface Row {
  readonly run: RunView
  /** The run that a baseline belongs to. */
  readonly owner: string | null
  readonly settings: ReadonlyMap<string, string>
  /** The preset that it differs least from; null until its settings are known. */
  readonly preset: string | null
  readonly group: number | null
}

export const rows = (runs: ReadonlyArray<RunView>, known: SettingsView | null): ReadonlyArray<Row> => {
  const places = new Map(known?.runs.map((id, place) => [id, place]))
  const byName = new Map(runs.map(({ id, name }) => [name, id] as const).toReversed())
  return runs.map((run) => {
    const owner = ownerOf(run.name, byName)
    const place = places.get(run.id)
    if (known === null || place === undefined) return { run, owner, settings: new Map(), preset: null, group: null }
    const settings = known.settings.flatMap(({ name, values }) => {
      const value = values[place] ?? null
      return value === null ? [] : [[name, value] as const]
    })
    return {
      run,
      owner,
      settings: new Map(settings),
      preset: known.presets[place] ?? null,
      group: known.groups[place] ?? null
    }
  })
}

/** The id of the run whose directory a run is in, such as that of a baseline; null without one. */
const ownerOf = (name: string, byName: ReadonlyMap<string, string>): string | null => {
  const end = name.lastIndexOf("/")
  return end <= 0 ? null : (byName.get(name.slice(0, end)) ?? ownerOf(name.slice(0, end), byName))
}

/** The rows of the list: those that a filter matches, with or without those of baselines. */
export const listed = (all: ReadonlyArray<Row>, filter: string, withNested: boolean): ReadonlyArray<Row> =>
  filtered(unfolded(all, withNested ? "all" : new Set()), filter)

/** The rows of runs that belong to no other one, each followed by those that belong to it, if it is unfolded. */
export const unfolded = (all: ReadonlyArray<Row>, open: ReadonlySet<string> | "all"): ReadonlyArray<Row> => {
  const byOwner = Map.groupBy(all, ({ owner }) => owner)
  const withOwned = (row: Row): ReadonlyArray<Row> =>
    open === "all" || open.has(row.run.id) ? [row, ...(byOwner.get(row.run.id) ?? []).flatMap(withOwned)] : [row]
  return (byOwner.get(null) ?? []).flatMap(withOwned)
}

/** The settings in which some of the rows differ, as far as these are known. */
export const differing = (all: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const known = all.filter(({ group }) => group !== null)
  return [...new Set(known.flatMap(({ settings }) => [...settings.keys()]))].filter(
    (name) => new Set(known.map(({ settings }) => settings.get(name))).size > 1
  )
}

/**
 * The rows that a filter matches. Each of its words is part of a name, a state, or of `setting=value`, where the name of the setting
 * can be cut at its beginning; `state` is like a setting.
 */
export const filtered = (all: ReadonlyArray<Row>, filter: string): ReadonlyArray<Row> => {
  const words = filter.toLowerCase().split(/\s+/u).filter(Boolean)
  return all.filter((row) => words.every((word) => matches(row, word)))
}

const matches = ({ run, settings }: Row, word: string): boolean => {
  const at = word.indexOf("=")
  if (at > 0)
    return [...settings, ["state", run.status] as const].some(
      ([name, value]) => name.toLowerCase().endsWith(word.slice(0, at)) && value.toLowerCase() === word.slice(at + 1)
    )
  return run.name.toLowerCase().includes(word) || run.status.startsWith(word)
}

/** What rows are sorted by: a column, or a setting; a minus before it turns the order round. */
export const columns = ["name", "state", "step", "reward", "tested", "rollouts", "last"] as const

/** Sorted rows; those without a value are last in both directions, and equal ones keep their order. */
export const sorted = (all: ReadonlyArray<Row>, sort: string): ReadonlyArray<Row> => {
  const isDescending = sort.startsWith("-")
  const by = isDescending ? sort.slice(1) : sort
  if (by === "") return all
  const keyed = all.map((row) => ({ row, key: keyOf(row, by) }))
  const compare = Order.make<string | number>((a, b) => (isDescending ? compareKeys(b, a) : compareKeys(a, b)))
  return keyed
    .toSorted((a, b) =>
      a.key === null || b.key === null ? Number(a.key === null) - Number(b.key === null) : compare(a.key, b.key)
    )
    .map(({ row }) => row)
}

const keyOf = ({ run, settings }: Row, by: string): string | number | null => {
  switch (by) {
    case "name":
      return run.name
    case "state":
      return run.status
    case "step":
      return run.step
    case "reward":
      return run.reward
    case "tested":
      return run.tested
    case "rollouts":
      return run.rollouts
    case "last":
      return run.lastWritten
    default: {
      const value = settings.get(by)
      return value === undefined ? null : value !== "" && Number.isFinite(Number(value)) ? Number(value) : value
    }
  }
}

/** Numbers before texts; texts with numbers in their order. */
const compareKeys = (a: string | number, b: string | number): -1 | 0 | 1 => {
  if (typeof a === "number" && typeof b === "number") return Order.Number(a, b)
  if (typeof a === "string" && typeof b === "string") return sign(a.localeCompare(b, "en", { numeric: true }))
  return typeof a === "number" ? -1 : 1
}

const sign = (value: number): -1 | 0 | 1 => (value < 0 ? -1 : value > 0 ? 1 : 0)

/** A mean over seeds with its 95 % t-interval; no interval for a single seed. */
export interface Estimate {
  readonly n: number
  readonly mean: number
  readonly ci95: readonly [number, number] | null
}

/**
 * Runs that differ in their random seed alone. `settings` are those that distinguish it from other groups, and `named` those that do so
 * among the groups of its preset. Estimates count each of its `seeds` once, by the first run that has a value. `difference` is that of
 * the test questions to the reference, over the seeds of both: the group that shares seeds with most others.
 */
export interface SeedGroup {
  readonly rows: ReadonlyArray<Row>
  readonly preset: string | null
  readonly settings: ReadonlyArray<readonly [name: string, value: string]>
  readonly named: ReadonlyArray<readonly [name: string, value: string]>
  readonly seeds: number
  readonly isReference: boolean
  readonly reward: Estimate | null
  readonly tested: Estimate | null
  readonly difference: Estimate | null
}

/** The groups of rows, in the order of their first rows. A run whose settings are not known is a group of its own. */
export const grouped = (all: ReadonlyArray<Row>, quantiles: ReadonlyArray<number>): ReadonlyArray<SeedGroup> => {
  const groups = [...Map.groupBy(all, ({ group, run }) => group ?? run.id).values()]
  const distinguishing = namesBetween(groups)
  const presetOf = (rows: ReadonlyArray<Row>) => rows[0]?.preset ?? null
  const withinPreset = new Map(
    [...Map.groupBy(groups, presetOf)].map(([preset, own]) => [preset, namesBetween(own)] as const)
  )
  const reference = referenceOf(groups)
  return groups.map((rows) => {
    const preset = presetOf(rows)
    return {
      rows,
      preset,
      settings: valuesOf(rows, distinguishing),
      named: valuesOf(rows, withinPreset.get(preset) ?? []),
      seeds: perSeed(rows, () => true).length,
      isReference: rows === reference,
      reward: ofShares(measured(rows, "reward"), quantiles),
      tested: ofShares(measured(rows, "tested"), quantiles),
      difference: rows === reference ? null : estimate(pairedDifferences(reference, rows), quantiles)
    }
  })
}

/** The first row of each seed that is usable; a row whose seed is not known counts alone. */
export const perSeed = (rows: ReadonlyArray<Row>, isUsable: (row: Row) => boolean): ReadonlyArray<Row> =>
  [
    ...new Map(
      rows
        .filter(isUsable)
        .toReversed()
        .map((row) => [row.run.seed ?? row.run.id, row] as const)
    ).values()
  ].toReversed()

const measured = (rows: ReadonlyArray<Row>, value: "reward" | "tested"): ReadonlyArray<number> =>
  perSeed(rows, ({ run }) => run[value] !== null).flatMap(({ run }) => run[value] ?? [])

const valuesOf = (rows: ReadonlyArray<Row>, names: ReadonlyArray<string>) =>
  names.flatMap((name) => {
    const value = rows[0]?.settings.get(name)
    return value === undefined ? [] : [[name, value] as const]
  })

/** The group that has finished runs of the same seed with most other groups; of equals, the first. */
const referenceOf = (groups: ReadonlyArray<ReadonlyArray<Row>>): ReadonlyArray<Row> => {
  const seeds = groups.map((rows) => new Set(bySeed(rows).keys()))
  const sharing = seeds.map(
    (own) => seeds.filter((other) => other !== own && [...own].some((seed) => other.has(seed))).length
  )
  return groups[sharing.indexOf(Math.max(...sharing))] ?? []
}

/** The settings that are equal within each group and differ between two. */
const namesBetween = (groups: ReadonlyArray<ReadonlyArray<Row>>): ReadonlyArray<string> => {
  const names = new Set(groups.flat().flatMap(({ settings }) => [...settings.keys()]))
  return [...names].filter((name) => {
    const values = groups.map((rows) => new Set(rows.map(({ settings }) => settings.get(name) ?? null)))
    return values.every(({ size }) => size === 1) && new Set(values.map(([value]) => value)).size > 1
  })
}

/** Differences between finished runs of one seed; of several with one seed, the first. */
const pairedDifferences = (from: ReadonlyArray<Row>, to: ReadonlyArray<Row>): ReadonlyArray<number> => {
  const before = bySeed(from)
  return [...bySeed(to)].flatMap(([seed, tested]) => {
    const other = before.get(seed)
    return other === undefined ? [] : [tested - other]
  })
}

const bySeed = (rows: ReadonlyArray<Row>): ReadonlyMap<number, number> =>
  new Map(
    perSeed(rows, ({ run }) => run.tested !== null).flatMap(({ run: { seed, tested } }) =>
      seed === null || tested === null ? [] : [[seed, tested] as const]
    )
  )

/** A mean of values in [0, 1], whose interval is within that. */
const ofShares = (values: ReadonlyArray<number>, quantiles: ReadonlyArray<number>): Estimate | null => {
  const found = estimate(values, quantiles)
  return found === null || found.ci95 === null
    ? found
    : { ...found, ci95: [Math.max(0, found.ci95[0]), Math.min(1, found.ci95[1])] }
}

const estimate = (values: ReadonlyArray<number>, quantiles: ReadonlyArray<number>): Estimate | null => {
  const middle = mean(values)
  if (middle === null) return null
  const quantile = quantiles[values.length - 2]
  if (quantile === undefined) return { n: values.length, mean: middle, ci95: null }
  const variance = values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1)
  const half = quantile * Math.sqrt(variance / values.length)
  return { n: values.length, mean: middle, ci95: [middle - half, middle + half] }
}
