/** Adds `values` to `sum`, element by element, in place. */
export const add = (sum: Float32Array, values: Float32Array): void => {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (values[i] ?? 0)
}
