/** Tables of pages from results files: what is between `<!-- figures: NAME TABLE: COLUMNS -->` and `<!-- end -->` is generated. */
import { globSync, readFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { Schema } from "effect"
import { root } from "../../test/packages/support/Workspace.ts"

const Table = Schema.Struct({
  columns: Schema.Array(Schema.String),
  /** The columns that are numbers. */
  right: Schema.Array(Schema.Int),
  rows: Schema.Array(Schema.Array(Schema.String))
})
type Table = typeof Table.Type

/** How a file of results was made: the commit of the code, the command and the machine. */
const Made = { title: Schema.NonEmptyString, commit: Schema.NonEmptyString, command: Schema.NonEmptyString }

/** Tables that were written at an earlier commit. */
const Kept = Schema.Struct({ ...Made, machine: Schema.NonEmptyString, tables: Schema.Array(Table) })

const Estimate = Schema.Struct({
  n: Schema.Int,
  mean: Schema.Finite,
  ci95: Schema.NullOr(Schema.Tuple([Schema.Finite, Schema.Finite]))
})

/** What `research STUDY` writes. */
const Studied = Schema.Struct({
  bench: Schema.NonEmptyString,
  commit: Schema.NonEmptyString,
  command: Schema.NonEmptyString,
  hardware: Schema.NonEmptyString,
  arms: Schema.Array(
    Schema.Struct({
      arm: Schema.String,
      em: Estimate,
      seeds: Schema.Array(Schema.Struct({ rollouts: Schema.Finite, tokens: Schema.Finite }))
    })
  ),
  comparisons: Schema.Array(Schema.Struct({ left: Schema.String, right: Schema.String, difference: Estimate })),
  claims: Schema.Array(
    Schema.Struct({
      higher: Schema.String,
      lower: Schema.String,
      n: Schema.Int,
      mean: Schema.Finite,
      interval: Schema.NullOr(Schema.Tuple([Schema.Finite, Schema.Finite])),
      verdict: Schema.String
    })
  )
})

export interface Results {
  readonly name: string
  readonly commit: string
  readonly command: string
  readonly machine: string
  readonly tables: ReadonlyArray<Table>
}

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Union([Kept, Studied])))

/** The results of a file. */
const read = (file: string): Results => {
  const found = decode(readFileSync(join(root, file), "utf8"))
  const { command, commit } = found
  const name = basename(file, ".json")
  return "tables" in found
    ? { name, command, commit, machine: found.machine, tables: found.tables }
    : { name, command, commit, machine: found.hardware, tables: tablesOf(found) }
}

const points = (value: number): string => (100 * value).toFixed(1)

const bounds = (ci95: readonly [number, number] | null): string =>
  ci95 === null ? "–" : `[${points(ci95[0])}, ${points(ci95[1])}]`

const tablesOf = ({ arms, claims, comparisons }: typeof Studied.Type): ReadonlyArray<Table> => {
  const mean = (values: ReadonlyArray<number>) =>
    Math.round(values.reduce((sum, value) => sum + value, 0) / values.length).toLocaleString("en")
  return [
    {
      columns: ["arm", "seeds", "EM", "95 % interval", "rollouts", "tokens"],
      right: [1, 2, 3, 4, 5],
      rows: arms.map(({ arm, em, seeds }) => [
        arm,
        String(em.n),
        points(em.mean),
        bounds(em.ci95),
        mean(seeds.map(({ rollouts }) => rollouts)),
        mean(seeds.map(({ tokens }) => tokens))
      ])
    },
    {
      columns: ["difference", "seeds", "points", "95 % interval"],
      right: [1, 2, 3],
      rows: comparisons.map(({ difference: { ci95, mean, n }, left, right }) => [
        `${left} − ${right}`,
        String(n),
        points(mean),
        bounds(ci95)
      ])
    },
    {
      columns: ["claim", "seeds", "points", "interval of all claims", "result"],
      right: [1, 2, 3],
      rows: claims.map(({ higher, interval, lower, mean, n, verdict }) => [
        `${higher} above ${lower}`,
        String(n),
        points(mean),
        bounds(interval),
        verdict
      ])
    }
  ]
}

/** All results, by name. */
export const results: ReadonlyMap<string, Results> = new Map(
  globSync("research/results/*.json", { cwd: root }).map((file) => [basename(file, ".json"), read(file)])
)

const block = /<!-- figures: (\S+) (\d+)(?:: ([^\n]+?))? -->\n[^]*?<!-- end -->/gu

/** A page with its generated tables as the results files have them. */
export const filled = (page: string, text: string): string =>
  text.replaceAll(block, (_, name: string, place: string, columns?: string) => {
    const found = results.get(name)
    const table = found?.tables[Number(place) - 1]
    if (found === undefined || table === undefined)
      throw new RangeError(`${page} has figures of ${name} ${place}, which no file of research/results has`)
    const wanted = columns?.split("; ") ?? table.columns
    const places = wanted.map((column) => table.columns.indexOf(column))
    if (places.includes(-1)) throw new RangeError(`${page}: ${name} has ${table.columns.join("; ")}, not ${columns}`)
    const cells = (row: ReadonlyArray<string>) => places.map((at) => (row[at] ?? "").replaceAll("|", "\\|"))
    const rule = places.map((at) => (table.right.includes(at) ? "---:" : "---"))
    const lines = [cells(table.columns), rule, ...table.rows.map(cells)].map((row) => `| ${row.join(" | ")} |`)
    const file = relative(dirname(page), `research/results/${name}.json`)
    return [
      `<!-- figures: ${name} ${place}${columns === undefined ? "" : `: ${columns}`} -->`,
      "",
      ...lines,
      "",
      `[${name}](${file}), commit ${found.commit}.`,
      "",
      "<!-- end -->"
    ].join("\n")
  })

/** The pages that may have generated tables. */
export const pages: ReadonlyArray<string> = globSync(["*.md", "{docs,research}/**/*.md"], {
  cwd: root,
  exclude: ["**/node_modules/**"]
}).filter((page) => readFileSync(join(root, page), "utf8").includes("<!-- figures: "))

/** The numbers with a decimal point of a text. */
export const decimals = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(?<![\d.])\d[\d,]*\.\d+(?![\d.]*\d)/gu)].map(([found]) => found)

/** All numbers with a decimal point that a results file has. */
export const known: ReadonlySet<string> = new Set(
  [...results.values()].flatMap(({ tables }) => decimals(JSON.stringify(tables)))
)
