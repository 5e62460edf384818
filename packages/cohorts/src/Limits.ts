/** The most that a population holds open; some 200 MB of leases, and room for 100 training steps of 1,024 groups of 16. */
export const limits = {
  openCohorts: 1000,
  openLeases: 200_000,
  openSamples: 2_000_000,
  unitsPerCohort: 100_000,
  /** Characters of an instruction. */
  textLength: 100_000
}
export type Limits = Readonly<typeof limits>
