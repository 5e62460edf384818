/** Linear algebra of small symmetric positive definite matrices. */
export type Vector = ReadonlyArray<number>
export type Matrix = ReadonlyArray<Vector>

/** The lower triangular L with L Lᵀ = `matrix`. A pivot below `least` is replaced by it. */
export const cholesky = (matrix: Matrix, least = 1e-12): Matrix => {
  const lower: Array<Array<number>> = matrix.map((row) => row.map(() => 0))
  for (const [row, own] of lower.entries()) {
    for (let column = 0; column <= row; column++) {
      const other = lower[column] ?? own
      let sum = at(matrix[row], column)
      for (let k = 0; k < column; k++) sum -= at(own, k) * at(other, k)
      own[column] = column === row ? Math.sqrt(Math.max(sum, least)) : sum / at(other, column)
    }
  }
  return lower
}

/** The solution x of L Lᵀ x = `right`. */
export const solve = (lower: Matrix, right: Vector): Vector => {
  const size = right.length
  const forward = right.map(() => 0)
  for (let row = 0; row < size; row++) {
    let sum = at(right, row)
    for (let k = 0; k < row; k++) sum -= at(lower[row], k) * at(forward, k)
    forward[row] = sum / at(lower[row], row)
  }
  const solution = right.map(() => 0)
  for (let row = size - 1; row >= 0; row--) {
    let sum = at(forward, row)
    for (let k = row + 1; k < size; k++) sum -= at(lower[k], row) * at(solution, k)
    solution[row] = sum / at(lower[row], row)
  }
  return solution
}

/** The inverse of L Lᵀ. */
export const inverse = (lower: Matrix): Matrix =>
  lower.map((_, index) =>
    solve(
      lower,
      lower.map((_, row) => (row === index ? 1 : 0))
    )
  )

/** A number of a row; 0 outside it. */
export const at = (row: Vector | undefined, column: number): number => row?.[column] ?? 0
