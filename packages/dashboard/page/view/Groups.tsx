import { look, mostCompared } from "../../src/Curves.ts"
import { interval, percent, plural, points } from "@inspo/report"
import type { Estimate, SeedGroup } from "../../src/RunRows.ts"
import { Curves } from "../chart/Curves.tsx"
import { versionOf } from "../source/LiveRuns.ts"
import { CurveSwatch } from "../part/Parts.tsx"
import { type Column, Table } from "../part/Table.tsx"
import { href, type Route } from "../Route.ts"
import { go, withQuery } from "../Routing.ts"

/** Runs that differ in their random seed alone, as one row: means over seeds, and paired differences to the reference. */
export const Groups = ({ groups, route }: { readonly groups: ReadonlyArray<SeedGroup>; readonly route: Route }) => {
  const { drawn, toggle } = useDrawn(groups, route)
  const [[title, className, name], ...others] = columns
  const first: Column<SeedGroup> = [
    title,
    className,
    (group, index) => (
      <span className="pick">
        <input
          type="checkbox"
          aria-label={`Draw ${nameOf(group)}`}
          checked={drawn.includes(group)}
          disabled={!drawn.includes(group) && drawn.length === mostCompared}
          onChange={() => toggle(group)}
        />
        <span>
          {drawn.includes(group) && <CurveSwatch {...look(drawn.indexOf(group))} />}
          {name(group, index)}
        </span>
      </span>
    )
  ]
  return (
    <>
      <p className="muted">{sentence(groups)}</p>
      <Table label="Groups of runs" className="rows" columns={[first, ...others]} rows={groups} />
      {drawn.length > 0 && <GroupCurves groups={drawn} route={route} />}
    </>
  )
}

/** Groups that are drawn until others are chosen. */
const usuallyDrawn = 2

/** The groups whose curves are drawn: each is known in the address by one of its runs. */
const useDrawn = (groups: ReadonlyArray<SeedGroup>, route: Route) => {
  const chosen = route.query.get("draw")?.split(",")
  const drawn =
    chosen === undefined
      ? groups.slice(0, usuallyDrawn)
      : groups.filter(({ rows }) => rows.some(({ run }) => chosen.includes(run.id))).slice(0, mostCompared)
  const toggle = (group: SeedGroup) => {
    const next = drawn.includes(group) ? drawn.filter((one) => one !== group) : [...drawn, group]
    go(withQuery(route, { draw: next.flatMap(({ rows }) => rows[0]?.run.id ?? []).join(",") || "none" }), "replace")
  }
  return { drawn, toggle }
}

const nameOf = ({ named, preset, rows }: SeedGroup): string =>
  preset === null
    ? (rows[0]?.run.name ?? "")
    : [preset, ...named.map(([name, value]) => `${name}=${clipped(value)}`)].join(" ")

/** A value that fits a legend. */
const clipped = (value: string): string => (value.length > 24 ? `${value.slice(0, 23)}…` : value)

/** Means and intervals of metrics over the seeds of each group. */
const GroupCurves = ({ groups, route }: { readonly groups: ReadonlyArray<SeedGroup>; readonly route: Route }) => {
  const { filter = "", nested } = Object.fromEntries(route.query)
  const labels = new Map(
    groups.flatMap((group) => {
      const [first] = group.rows
      return first === undefined ? [] : [[first.run.id, `${nameOf(group)} (${plural(group.seeds, "seed")})`]]
    })
  )
  return (
    <Curves
      labels={labels}
      refine={({ smoothing }) => ({ smooth: smoothing, filter, ...(nested === "shown" ? { nested } : {}) })}
      route={route}
      version={groups.flatMap(({ rows }) => rows.map(({ run }) => versionOf(run))).join()}
    >
      <p className="muted">
        Each curve is the mean of a group with its 95 % t-interval over seeds, at the steps that all its runs have
        reached.
        {groups.map((group) => {
          const steps = group.rows.map(({ run }) => run.step)
          const [least, most] = [Math.min(...steps), Math.max(...steps)]
          return least === most ? "" : ` ${nameOf(group)} ends at step ${least} of ${most}, with its shortest run.`
        })}
      </p>
    </Curves>
  )
}

const sentence = (groups: ReadonlyArray<SeedGroup>): string => {
  const sizes = groups.map(({ rows }) => rows.length)
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)]
  const runs = least === most ? plural(most, "run") : `${least} to ${plural(most, "run")}`
  const reference = groups.find(({ isReference }) => isReference)
  const hasCopies = groups.some(({ rows, seeds }) => rows.length > seeds)
  const pairs = groups.flatMap(({ difference }) => difference?.n ?? [])
  return (
    `${plural(groups.length, "group")} of ${runs} that differ in their random seed alone. ` +
    (hasCopies ? "Of several runs with one seed, the first one with a value counts. " : "") +
    (pairs.length === 0
      ? "No two groups have finished runs of the same seed."
      : `A difference is to ${reference === undefined ? "" : nameOf(reference)}, paired by seed; means have 95 % t-intervals over seeds.` +
        (groups.some(({ settings }) => settings.some(([name]) => /^(?:data|evaluation)\./u.test(name)))
          ? " Groups differ in their data or evaluation, so runs of one seed may have other test questions."
          : " Runs of one seed have the same test questions."))
  )
}

const columns: readonly [Column<SeedGroup>, ...ReadonlyArray<Column<SeedGroup>>] = [
  [
    "Group",
    "",
    (group) => (
      <details>
        <summary>
          <span className={group.preset === null ? "" : "mono"}>{nameOf(group)}</span>
        </summary>
        {group.settings.length > group.named.length && (
          <p className="muted small">
            Differs from other groups in {group.settings.map(([name, value]) => `${name}=${clipped(value)}`).join(", ")}
            .
          </p>
        )}
        <ul className="plain">
          {group.rows.map(({ run }) => (
            <li key={run.id}>
              <a href={href(run.id)}>{run.name}</a>{" "}
              <span className="muted">
                seed {run.seed ?? "–"}, {percent(run.tested)}
              </span>
            </li>
          ))}
        </ul>
      </details>
    )
  ],
  ["Runs", "num", ({ rows }) => rows.length],
  ["Training reward", "num", ({ reward }) => <Estimated estimate={reward} show={percent} />],
  ["Test questions", "num", ({ tested }) => <Estimated estimate={tested} show={percent} />],
  [
    "Difference, points",
    "num",
    ({ difference }) => (
      <>
        <Estimated estimate={difference} show={points} />
        {difference !== null && <div className="muted small">{plural(difference.n, "pair")}</div>}
      </>
    )
  ]
]

interface EstimatedProps {
  readonly estimate: Estimate | null
  readonly show: (value: number) => string
}

const Estimated = ({ estimate, show }: EstimatedProps) =>
  estimate === null ? (
    <span className="muted">–</span>
  ) : (
    <>
      <b>{show(estimate.mean)}</b>
      {estimate.ci95 !== null && <div className="muted small">{interval(estimate.ci95, show)}</div>}
    </>
  )
