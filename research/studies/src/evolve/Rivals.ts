/**
 * Settings of the other optimizers. Each was tuned with every setting of its grid on agents that no table reports ({@link tuningWorlds}),
 * and the settings with the largest mean share of the available gain were chosen. `evolve()` was run on none of them.
 */
import { untuned, type World, worlds } from "./World.ts"

/** What a program gets of its settings; each program reads those that it knows. */
export type Settings = Readonly<Record<string, number>>

export interface Tuned {
  readonly grid: ReadonlyArray<Settings>
  readonly chosen: Settings
}

/** `validation` is the number of the cases that choose the prompt, `minibatch` that of the cases of one reflection. */
const reflective: ReadonlyArray<Settings> = [
  ...[10, 20, 30, 60].map((validation) => ({ validation, minibatch: 3 })),
  ...[10, 20].map((validation) => ({ validation, minibatch: 8 }))
]

export const rivals = {
  /** Ours with the candidates of gepa, and one score of each output; it is not tuned. */
  "inspo-equal": { grid: [{ candidates: 3 }], chosen: { candidates: 3 } },
  gepa: { grid: reflective, chosen: { validation: 10, minibatch: 8 } },
  "dspy-gepa": { grid: reflective, chosen: { validation: 10, minibatch: 8 } },
  "dspy-miprov2": {
    grid: [
      { validation: 60, candidates: 6, trials: 4 },
      { validation: 30, candidates: 6, trials: 8 },
      { validation: 20, candidates: 6, trials: 12 }
    ],
    chosen: { validation: 60, candidates: 6, trials: 4 }
  },
  /** `breadth` prompts in each of `depth` rounds, each on `cases`. */
  "dspy-copro": {
    grid: [
      { breadth: 10, depth: 3, cases: 10 },
      { breadth: 5, depth: 3, cases: 20 },
      { breadth: 5, depth: 2, cases: 30 }
    ],
    chosen: { breadth: 10, depth: 3, cases: 10 }
  },
  ax: {
    grid: [10, 20, 30, 60].map((validation) => ({ validation })),
    chosen: { validation: 20 }
  },
  /** It has no setting but the share of the cases that choose, in percent; 13 evaluations of 23 cases are 299 calls. */
  promptfoo: {
    grid: [0, 30, 50].map((validation) => ({ cases: 23, validation })),
    chosen: { cases: 23, validation: 0 }
  },
  /** One prompt, improved step by step: it and a revision of it answer `cases` new cases, and the better one stays. */
  "single-lineage": {
    grid: [10, 15, 25, 50].map((cases) => ({ cases })),
    chosen: { cases: 15 }
  }
} satisfies Readonly<Record<string, Tuned>>

export type Rival = keyof typeof rivals

export const isRival = (name: string): name is Rival => name in rivals

/** Agents to tune on: as those of the study, with a base that is half a unit of log-odds higher. */
export const tuningWorlds: ReadonlyArray<World> = worlds.flatMap((world) =>
  world.headroom && !untuned.has(world.name)
    ? [{ ...world, name: `${world.name}, higher base`, base: world.base + 0.5 }]
    : []
)
