import { assert } from "vitest"
import * as Laws from "./Laws.ts"
import type { Program } from "./Programs.ts"

/** A trainer of groups with two samples, 16 in a cohort. */
export interface Trainer extends Pick<Laws.Expected, "ahead" | "cohorts" | "population" | "url"> {
  readonly start: (attempt: string) => Program | Promise<Program>
  /** The logs of its ranks. */
  readonly logs: readonly [string, ...ReadonlyArray<string>]
  /** The first cohort after its latest checkpoint. */
  readonly resumesAt: () => Promise<number>
}

/** Kills a trainer in its cohort 8, starts it again from its checkpoint, and checks all laws once it has ended. */
export const checkThroughKill = async ({ logs, resumesAt, start, ...expected }: Trainer): Promise<void> => {
  await (await start("one")).killedAt(logs[0], '"cohort": 8,')
  const first = await resumesAt()
  assert.isAtLeast(first, 1)
  await (await start("two")).ended()
  await Laws.check(await Laws.readLog(...logs), {
    ...expected,
    attempts: [
      { name: "one", first: 0 },
      { name: "two", first }
    ],
    groups: 16,
    n: 2
  })
}
