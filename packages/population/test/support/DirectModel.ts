/** The full model y = θ_i + u_block + e as one dense system, with a parameter for each member and each block. */

/** An observation of a member in a block; `weight` is the inverse of its variance, in units of σ². */
export interface Row {
  readonly member: number
  readonly block: string
  readonly value: number
  readonly weight: number
}

/** The members' parameters under the prior precisions `priors`; block effects have hardly any. */
export const fit = (rows: ReadonlyArray<Row>, priors: ReadonlyArray<number>, noise: number) => {
  const blocks = [...new Set(rows.map(({ block }) => block))]
  const size = priors.length + blocks.length
  const system = Array.from({ length: size }, (_, place) =>
    Array.from({ length: size }, (_, other) => (place === other ? (priors[place] ?? 1e-7) : 0))
  )
  const right = Array.from({ length: size }, () => 0)
  for (const { block, member, value, weight } of rows) {
    const places = [member, priors.length + blocks.indexOf(block)]
    for (const place of places) {
      right[place] = (right[place] ?? 0) + (weight * value) / noise
      for (const other of places) {
        const row = system[place] ?? []
        row[other] = (row[other] ?? 0) + weight / noise
      }
    }
  }
  const columns = priors.map((_, place) =>
    gauss(
      system,
      right.map((_, other) => (other === place ? 1 : 0))
    )
  )
  const means = gauss(system, right)
  return {
    means: means.slice(0, priors.length),
    covariance: columns.map((column) => column.slice(0, priors.length)),
    residual: rows.reduce((sum, { block, member, value, weight }) => {
      const fitted = (means[member] ?? NaN) + (means[priors.length + blocks.indexOf(block)] ?? NaN)
      return sum + weight * (value - fitted) ** 2
    }, 0),
    freedom: rows.length - blocks.length
  }
}

/** Gaussian elimination with pivots. */
const gauss = (system: ReadonlyArray<ReadonlyArray<number>>, right: ReadonlyArray<number>): ReadonlyArray<number> => {
  const rows = system.map((row, place) => [...row, right[place] ?? 0])
  const size = rows.length
  for (let column = 0; column < size; column++) {
    const order = rows.slice(column).toSorted((a, b) => Math.abs(b[column] ?? 0) - Math.abs(a[column] ?? 0))
    rows.splice(column, order.length, ...order)
    const pivot = rows[column] ?? []
    for (const [place, row] of rows.entries()) {
      if (place === column) continue
      const factor = (row[column] ?? 0) / (pivot[column] ?? 1)
      for (let k = column; k <= size; k++) row[k] = (row[k] ?? 0) - factor * (pivot[k] ?? 0)
    }
  }
  return rows.map((row, place) => (row[size] ?? 0) / (row[place] ?? 1))
}
