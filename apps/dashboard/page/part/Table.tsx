import type { HTMLAttributes, ReactNode } from "react"

/** The title of a column, the classes of its cells, and what it shows of a row. */
export type Column<Row> = readonly [title: string, className: string, cell: (row: Row, index: number) => ReactNode]

/** A table that scrolls sideways, also by keys; its first column names the rows. */
export const Table = <Row,>({
  className = "",
  columns,
  foot = [],
  label,
  rowProps,
  rows
}: {
  readonly label: string
  readonly className?: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  /** Rows below a line, such as a sum. */
  readonly foot?: ReadonlyArray<Row>
  readonly rowProps?: (row: Row) => HTMLAttributes<HTMLTableRowElement>
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
            {columns.map(([title, className], place) => (
              <th key={place} scope="col" className={className}>
                {title}
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
