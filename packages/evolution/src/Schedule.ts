/** After which units of time decisions are due. */

/** While evolution is `isPaused`, nothing is decided; groups are observed all the same. `parents` is N_parent. */
export interface Schedule {
  readonly parents: number
  readonly isPaused: boolean
  readonly prunes: (step: number) => boolean
  readonly evolves: (step: number) => boolean
}

/** Whether every `period`-th unit of time is meant, 0 for none. */
export const divides = (period: number, step: number): boolean => period > 0 && step % period === 0
