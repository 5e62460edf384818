/** The mean; null without values. */
export const mean = (values: ReadonlyArray<number>): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

/** Steps of a moving mean. */
export const movingSteps = 5

/** The mean of each value and the `count - 1` before it, without the missing ones. */
export const movingMean = (
  values: ReadonlyArray<number | null>,
  count: number = movingSteps
): ReadonlyArray<number | null> =>
  values.map((_, index) =>
    mean(values.slice(Math.max(0, index - count + 1), index + 1).filter((value) => value !== null))
  )
