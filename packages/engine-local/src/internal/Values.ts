/** Access to values of arrays and outputs, and what is wrong if they are not numbers. */

/** The value at a place that has to be filled: one that is not would be trained on, or sampled with, as if it were 0. */
export const element = <A>(values: ArrayLike<A>, index: number, what: string): A => {
  const value = values[index]
  if (value === undefined) throw new RangeError(`${what} ${index} of ${values.length} is missing`)
  return value
}

/** The only value of a named output of a program. */
export const scalar = (outputs: Readonly<Record<string, ArrayLike<number>>>, name: string): number => {
  const values = outputs[name]
  if (values === undefined)
    throw new RangeError(`the output ${name} is missing among ${Object.keys(outputs).join(", ")}`)
  return element(values, 0, name)
}

/** Adds `values` to `sum`, element by element, in place. */
export const add = (sum: Float32Array, values: Float32Array): void => {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (values[i] ?? 0)
}

/** Weights can be finite and yet so large that the sums over them are not. */
export const noDistribution =
  "the policy's weights have grown so large that its log-probabilities are not numbers; restore an earlier checkpoint and " +
  "lower the learning rate (train.learningRate of a run)"
