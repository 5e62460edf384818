/** A share in percentage points with one digit. */
export const points = (share: number): string => (100 * share).toFixed(1)

/** An interval in points; a dash without one. */
export const interval = ({ ci95 }: { readonly ci95: readonly [low: number, high: number] | null }): string =>
  ci95 === null ? "-" : `[${points(ci95[0])}, ${points(ci95[1])}]`

export const percent = (share: number): string => `${points(share)} %`
