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
