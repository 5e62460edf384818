/** The registry of judges: a new one is a file in `judges`, and a line here. */
import { keyTurns } from "./judges/KeyTurns.ts"
import { pairs } from "./judges/Pairs.ts"
import { reflections } from "./judges/Reflections.ts"
import { rubric } from "./judges/Rubric.ts"
import { steps } from "./judges/Steps.ts"
import { turns } from "./judges/Turns.ts"
import type { Judge } from "./Judge.ts"

export { Criterion, Finding } from "./Judge.ts"

/** Every judge of rollouts. */
export const judges: ReadonlyArray<Judge> = [rubric, pairs, steps, keyTurns, turns, reflections]

/** The judge of a method, or null for none. */
export const named = (name: string | undefined): Judge | null => judges.find((judge) => judge.name === name) ?? null
