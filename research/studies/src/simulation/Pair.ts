/** Simulates two instructions until one of them is removed for certain, and records when P(best) shows the better one. */
import { Population } from "@inspo/population"
import { assign } from "./Loop.ts"
import { equal, groups, type Rule, rulesFor } from "./Rules.ts"
import * as World from "./World.ts"

/** The samples of an instruction on a question, and the instructions of a question. */
export const designs = {
  "1 sample, own questions": { instructions: 1, samples: 1 },
  "5 samples, own questions": { instructions: 1, samples: 5 },
  "5 samples, shared questions": { instructions: 2, samples: 5 },
  "1 sample, shared questions": { instructions: 2, samples: 1 }
} as const
export type Design = keyof typeof designs

export interface Outcome {
  /** Whether P(best) of the better one is at least 0.95, after each of {@link looks}. */
  readonly shown: ReadonlyArray<boolean>
  /** The rollouts, both together, after which the worse one is removed at a risk of 5 %; null if that takes more. */
  readonly removedAt: number | null
  /** Whether the better one was removed. */
  readonly wrong: boolean
}

/** The rollouts of both instructions together at which they are compared: each a quarter more than the one before. */
export const looks: ReadonlyArray<number> = [
  ...new Set(Array.from({ length: 35 }, (_, power) => 20 * Math.round(1.25 ** power)))
]

/** Equal arguments give equal outcomes; `gap` is the difference of the expected rewards, around 50 %. */
export const simulate = (gap: number, design: Design, seed: number): Outcome => {
  const world = World.make({ values: [0.5 + gap / 2, 0.5 - gap / 2], question: 0.25, interaction: 0.05 })
  const [better, worse] = world.values.map((_, place) => World.instruction(place))
  if (better === undefined || worse === undefined) throw new RangeError("expected two values")
  const rollOut = World.open(world, seed)
  const rule = ruleOf(design)
  const valueOf = (id: string) => 0.5 + (id === better.id ? gap / 2 : -gap / 2)
  const shown: Array<boolean> = []
  let population = Population.begin([better, worse])
  let rollouts = 0
  for (const [index, look] of looks.entries()) {
    const step = index + 1
    const budget = { steps: 1, questions: look - rollouts, groupSize: 1 }
    const draws = assign(rule, budget, rule.valuation.values(population), { seed, step })
    const answers = rollOut({ step, draws, samples: rule.samples(budget), valueOf })
    population = Population.observe(rule.averaging, population, step, answers)
    rollouts = look
    shown.push((population.comparison.chances[0] ?? 0) >= 0.95)
    const { pruned } = rule.removal.prune(population, rule.valuation.values(population))
    if (pruned.length === 0) continue
    const wrong = pruned.some(({ id }) => id === better.id)
    return { shown, removedAt: wrong ? null : rollouts, wrong }
  }
  return { shown, removedAt: null, wrong: false }
}

const ruleOf = (design: Design): Rule => {
  const { instructions, samples } = designs[design]
  return {
    ...rulesFor({ steps: 1, questions: 1, groupSize: samples }).groups,
    sampler: groups("softmax", instructions, equal).sampler,
    questions: ({ questions }) => Math.round(questions / samples),
    samples: () => samples
  }
}
