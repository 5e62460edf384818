import type { HTMLAttributes, ReactNode } from "react"

/** The title of a column, the classes of its cells, what it shows of a row, and the name that rows are sorted by, if they are. */
export type Column<Row> = readonly [
  title: string,
  className: string,
  cell: (row: Row, index: number) => ReactNode,
  sort?: string | undefined
]

/** The order of the rows: a name of a column, after a minus for the descending one, and how to change it. */
export interface Sorting {
  readonly by: string
  readonly onSort: (by: string) => void
}

/** A table that scrolls sideways, also by keys; its first column names the rows. */
export const Table = <Row,>({
  className = "",
  columns,
  foot = [],
  label,
  rowProps,
  rows,
  sorting
}: {
  readonly label: string
  readonly className?: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  /** Rows below a line, such as a sum. */
  readonly foot?: ReadonlyArray<Row>
  readonly rowProps?: (row: Row) => HTMLAttributes<HTMLTableRowElement>
  readonly sorting?: Sorting
}) => {
  const line = (row: Row, index: number) => (
    <tr key={index} {...rowProps?.(row)}>
      {columns.map(([, className, cell], place) =>
        place === 0 ? (
          <th key={place} scope="row" className={className}>
            {cell(row, index)}
          </th>
        ) : (
          <td key={place} className={className}>
            {cell(row, index)}
          </td>
        )
      )}
    </tr>
  )
  return (
    <div className="scroll" role="region" aria-label={label} tabIndex={0}>
      <table className={`table ${className}`}>
        <thead>
          <tr>
            {columns.map(([title, className, , sort], place) => (
              <th key={place} scope="col" className={className} aria-sort={orderOf(sorting, sort)}>
                {sorting === undefined || sort === undefined ? (
                  title
                ) : (
                  <button
                    type="button"
                    className="sort"
                    onClick={() => sorting.onSort(orderOf(sorting, sort) === "descending" ? sort : `-${sort}`)}
                  >
                    {title}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{rows.map(line)}</tbody>
        {foot.length > 0 && <tfoot>{foot.map(line)}</tfoot>}
      </table>
    </div>
  )
}

const orderOf = (sorting: Sorting | undefined, column: string | undefined): "ascending" | "descending" | undefined =>
  sorting === undefined || column === undefined
    ? undefined
    : sorting.by === column
      ? "ascending"
      : sorting.by === `-${column}`
        ? "descending"
        : undefined
