import { interval, percent, plural, points } from "../../src/Format.ts"
import type { Estimate, SeedGroup } from "../../src/RunRows.ts"
import { type Column, Table } from "../part/Table.tsx"
import { href } from "../Route.ts"

/** Runs that differ in their random seed alone, as one row: means over seeds, and paired differences to the first group. */
export const Groups = ({ groups }: { readonly groups: ReadonlyArray<SeedGroup> }) => (
  <>
    <p className="muted">{sentence(groups)}</p>
    <Table label="Groups of runs" className="rows" columns={columns} rows={groups} />
  </>
)

const sentence = (groups: ReadonlyArray<SeedGroup>): string => {
  const sizes = groups.map(({ rows }) => rows.length)
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)]
  const runs = least === most ? plural(most, "run") : `${least} to ${plural(most, "run")}`
  const pairs = groups.flatMap(({ difference }) => difference?.n ?? [])
  return (
    `${plural(groups.length, "group")} of ${runs} that differ in their random seed alone. ` +
    (pairs.length === 0
      ? "No two groups have finished runs of the same seed."
      : "A difference is to the first group, paired by seed; means have 95 % t-intervals over seeds." +
        (groups.some(({ settings }) => settings.some(([name]) => /^(?:data|evaluation)\./u.test(name)))
          ? " Groups differ in their data or evaluation, so runs of one seed may have other test questions."
          : " Runs of one seed have the same test questions."))
  )
}

const columns: ReadonlyArray<Column<SeedGroup>> = [
  [
    "Group",
    "",
    ({ rows, settings }) => (
      <details>
        <summary>
          {settings.length === 0 ? (
            rows[0]?.run.name
          ) : (
            <span className="mono">{settings.map(([name, value]) => `${name}=${value}`).join(" ")}</span>
          )}
        </summary>
        <ul className="plain">
          {rows.map(({ run }) => (
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

const Estimated = ({
  estimate,
  show
}: {
  readonly estimate: Estimate | null
  readonly show: (value: number) => string
}) =>
  estimate === null ? (
    <span className="muted">–</span>
  ) : (
    <>
      <b>{show(estimate.mean)}</b>
      {estimate.ci95 !== null && <div className="muted small">{interval(estimate.ci95, show)}</div>}
    </>
  )
