/** The looks of curves in one chart: they differ in colour, then in dashes. */

/** The most runs that are compared at once: the number of pairs of a colour and a dash pattern. */
export const mostCompared = 40

/** The look of the curve number `index`, from 0; different for each index below {@link mostCompared}. */
export const look = (index: number): { readonly colour: string; readonly dash: ReadonlyArray<number> } => ({
  colour: `var(--curve-${index % colours})`,
  dash: dashes[Math.floor(index / colours) % dashes.length] ?? []
})

const colours = 8

/** Lengths of drawn and empty stretches in pixels. */
const dashes: ReadonlyArray<ReadonlyArray<number>> = [[], [10, 4], [2, 3], [10, 3, 2, 3], [16, 6]]
