/** The share of each part of a data set, relative to their sum. */
export interface Shares {
  readonly train: number
  readonly validation: number
  readonly test: number
}

export const defaultShares: Shares = { train: 0.8, validation: 0.1, test: 0.1 }
