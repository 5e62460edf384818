/**
 * Half of a 95 % interval of the mean of `groups` independent group means, at the largest variance that a mean in [0, 1]
 * can have, 1/4.
 */
export const halfWidth = (groups: number): number => z95 * Math.sqrt(largestVariance / groups)

/** The 97.5 % quantile of the standard normal distribution. */
const z95 = 1.959963984540054

const largestVariance = 1 / 4
