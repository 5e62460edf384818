/** The rules of choosing that are compared. All but TrueSkill, racing and the static allocation are the modules of a run. */
import { Population } from "@inspo/population"
import { Sampler } from "@inspo/sampler"
import { Admission, EvidencePruning, Removal } from "@inspo/successive-halving"
import * as TrueSkill from "../strategies/TrueSkill.ts"

/** The rollouts of a simulation: so many steps of so many questions of so many samples. */
export interface Budget {
  readonly steps: number
  readonly questions: number
  readonly groupSize: number
}

/** How a step draws: the sampler is asked for `questions`, and every draw has so many samples. */
export interface Rule {
  readonly name: string
  readonly sampler: Sampler.Interface
  readonly questions: (budget: Budget) => number
  readonly samples: (budget: Budget) => number
  readonly valuation: Omit<Population.Interface, "observe">
  readonly averaging: Population.Averaging
  readonly removal: Removal.Interface
  readonly admission: Admission.Interface
  /** Prune by the values before the step's rewards, or after them. */
  readonly ranking: "before" | "after"
  /** The steps between two prunings. */
  readonly pruneEvery: number
}

const recent: Population.Averaging = { window: 5, span: "steps", average: "observed" }
const lifetime: Population.Averaging = { window: 1e9, span: "steps", average: "observed" }
const paired = { valuation: Population.compare, averaging: recent, ranking: "after", pruneEvery: 5 } as const

/** Each question with a group of its own, of `instructions` instructions. */
export const groups = (rule: Sampler.Rule, instructionsPerQuestion: number, temperature = 0.2) => ({
  sampler: Sampler.make({
    rule,
    temperature,
    assignment: "stratified",
    sharing: { _tag: "Groups", instructionsPerQuestion }
  }),
  questions: ({ questions }: Budget) => questions,
  samples: ({ groupSize }: Budget) => groupSize
})

/** Questions whose `draws` draws are shared by shares, of one sample each or of a whole group each. */
const shared = (rule: Sampler.Rule, draws: number, samples: (budget: Budget) => number, temperature = 0.2) => ({
  sampler: Sampler.make({ rule, temperature, assignment: "stratified", sharing: { _tag: "Samples", samples: draws } }),
  questions: (budget: Budget) => Math.floor((budget.questions * budget.groupSize) / (draws * samples(budget))),
  samples
})
const one = () => 1

/** A temperature at which all shares are equal. */
export const equal = 1e9
const evidence = {
  removal: EvidencePruning.removal({ delta: 0.05, parents: 1 }),
  admission: EvidencePruning.admission({ delta: 0.05 })
}
const halving = { removal: Removal.bottomHalf({ parents: 1 }), admission: Admission.allOthers() }

/** Prunes at P(best) < 2 %, without a guarantee. */
const racing: Removal.Interface = {
  ...evidence.removal,
  identity: { name: "racing", parameters: {} },
  prune: (population, values) => {
    const record = Removal.recordWith(values)
    const chances = population.comparison.chances
    const all = Population.ids(population)
    const pruned = all.filter((_, place) => (chances[place] ?? 0) < 0.02)
    return {
      pruned: pruned.map((id) => record(id, "worse")),
      kept: all.filter((id) => !pruned.includes(id)),
      spared: []
    }
  }
}
const never: Removal.Interface = {
  ...evidence.removal,
  identity: { name: "never", parameters: {} },
  prune: (population) => ({ pruned: [], kept: Population.ids(population), spared: [] })
}

/** The rules for groups of this size. Samples of one question are shared by at least four. */
export const rulesFor = ({ groupSize }: Budget): Readonly<Record<Name, Rule>> => {
  const draws = Math.max(groupSize, 4)
  return {
    paper: {
      name: "the paper's: softmax, halving",
      ...groups("softmax", 1),
      sampler: Sampler.make({ rule: "softmax", temperature: 0.2, assignment: "independent" }),
      valuation: Population.lastDraws({ window: 5 }),
      averaging: { window: 5, span: "draws", average: "window" },
      ...halving,
      ranking: "before",
      pruneEvery: 5
    },
    unpaired: {
      name: "halving, unpaired",
      ...groups("softmax", 1, equal),
      valuation: Population.recentSteps(lifetime),
      averaging: lifetime,
      ...halving,
      ranking: "after",
      pruneEvery: 5
    },
    paired: { name: "halving, paired: whole groups", ...groups("softmax", 7, equal), ...paired, ...halving },
    even: {
      name: "evidence: shared groups, equal shares",
      ...shared("softmax", draws, one, equal),
      ...paired,
      ...evidence
    },
    trueSkill: {
      name: "TrueSkill on step means (E-SPL)",
      ...groups("softmax", 7, equal),
      ...paired,
      valuation: TrueSkill.strategy,
      averaging: lifetime,
      ...evidence,
      removal: never
    },
    racing: {
      name: "racing: P(best) < 2 % leaves",
      ...shared("thompson", draws, one),
      ...paired,
      ...evidence,
      removal: racing,
      pruneEvery: 1
    },
    alone: { name: "evidence: 1 instruction a question", ...groups("thompson", 1), ...paired, ...evidence },
    groups: { name: "evidence: whole groups, 4 a question", ...groups("thompson", 4), ...paired, ...evidence },
    repeated: {
      name: "the same, an instruction on a question repeatedly",
      ...shared("thompson", 4, (budget) => budget.groupSize),
      ...paired,
      ...evidence
    },
    samples: { name: "evidence: shared groups", ...shared("thompson", draws, one), ...paired, ...evidence }
  }
}

export type Name =
  | "paper"
  | "unpaired"
  | "paired"
  | "even"
  | "trueSkill"
  | "racing"
  | "alone"
  | "groups"
  | "repeated"
  | "samples"
