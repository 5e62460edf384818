/** Positions of labelled steps on an axis: at most `most`, at round numbers if there are any. */
export const ticks = (steps: ReadonlyArray<number>, most: number): ReadonlyArray<number> => {
  const span = (steps.at(-1) ?? 0) - (steps[0] ?? 0) + 1
  const every = distances.find((distance) => span / distance <= Math.max(2, most)) ?? span
  const round = steps.flatMap((step, index) => (step % every === 0 ? [index] : []))
  return round.length > 0 ? round : steps.length > 0 ? [0] : []
}

const distances = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
