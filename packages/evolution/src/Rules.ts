/** How a population is led: the registries of rules, two sets of them, and their single choices for ablations. */
import { Population, type Ranking } from "@inspo/population"
import { Admission, EvidencePruning, Removal as Rule } from "@inspo/successive-halving"
import { Verification } from "@inspo/verification"
import { Equal, Schema, SchemaGetter, Struct } from "effect"
import type { Strategies } from "./Strategies.ts"

/** What rules are made from. `size` and `parents` are N_P and N_parent; with `asks`, candidates are asked questions before they enter. */
export interface Leading {
  readonly size: number
  readonly parents: number
  readonly window: number
  readonly ties: Ranking.Ties
  readonly risk: number
  readonly rounds: number
  readonly fill: boolean
  readonly asks: boolean
  readonly missingRewards?: Population.MissingRewards
}

/** The registry of valuations, each with evidence of its own: a rule is a file and a line here, for runs, served populations and searches. */
export const valuations = {
  draws: ({ ties, window }) =>
    Population.make({ window, ties, best: whenUnknown[ties], average: "window", span: "draws", unseen: "zero" }),
  steps: ({ ties, window }) => Population.make({ window, ties, best: whenUnknown[ties] }),
  questions: ({ missingRewards = "worst", window }) =>
    Population.comparing({ window, average: "observed", span: "steps", missingRewards })
} as const satisfies Record<string, (leading: Leading) => Population.Interface>

/** How I* is chosen while no value is known, by how ties are broken. */
const whenUnknown = { order: "value", evidence: "evidence" } as const

/** The registry of removal and admission. */
export const removals = {
  "bottom-half": (leading) => ({ removal: Rule.bottomHalf(leading), admission: Admission.allOthers(leading) }),
  "fixed-half": (leading) => ({ removal: Rule.fixedHalf(leading), admission: Admission.allOthers(leading) }),
  evidence: ({ parents, risk: delta }) => ({
    removal: EvidencePruning.removal({ delta, parents }),
    admission: EvidencePruning.admission({ delta })
  })
} as const satisfies Record<string, (leading: Leading) => Pick<Strategies, "admission" | "removal">>

/** The registry of verifications, by the score that a candidate must reach. */
export const verifications = {
  stored: Verification.storedBaseline,
  shared: Verification.storedBaseline,
  rerun: Verification.rerunParent
} as const satisfies Record<string, (leading: Leading) => Verification.Interface>

/** The strategies of some rules. */
export const strategies = (
  { average, baseline, removal }: Pick<Rules, "average" | "baseline" | "removal">,
  leading: Leading
): Strategies => ({
  valuation: valuations[average](leading),
  ...removals[removal](leading),
  verification: (leading.asks ? verifications[baseline] : Verification.untried)(leading)
})

/** The name of a rule of removal and admission. */
export const Removal = Schema.Literals(Struct.keys(removals)).annotate({
  description: "Who is pruned: half of the present or of the first population, or who is certainly not the best"
})

const Positive = Schema.Int.check(Schema.isGreaterThan(0))

/** The choices of a set of rules. Each decides a point that the paper leaves open (docs/algorithm.md). */
export const Rules = Schema.Struct({
  average: Schema.Literals(Struct.keys(valuations)).annotate({
    description:
      "The value of an instruction. `questions`: compared within questions; `draws` and `steps`: the average of Eq. 6 over its last n observations, or the last n steps"
  }),
  window: Positive.annotate({ description: "n of Eq. 6" }),
  ties: Schema.Literals(["order", "evidence"]).annotate({ description: "The order of equal values" }),
  shares: Schema.Literals(["softmax", "thompson"]).annotate({
    description: "The shares of instructions: softmax of their values (Eq. 4), or the probability of being the best"
  }),
  temperature: Schema.Finite.check(Schema.isGreaterThan(0)).annotate({ description: "τ_s of Eq. 4, for `softmax`" }),
  assignment: Schema.Literals(["independent", "stratified"]).annotate({
    description: "Independent draws, or systematic sampling within each data source"
  }),
  removal: Removal,
  risk: Schema.Finite.check(
    Schema.isBetween({ minimum: 0, maximum: 1, exclusiveMinimum: true, exclusiveMaximum: true })
  ).annotate({ description: "δ: the probability that the removal by evidence ever prunes the best" }),
  ranking: Schema.Literals(["before", "after"]).annotate({
    description: "Whether pruning and parents follow the values before a step's rewards, or after them"
  }),
  failures: Schema.Literals(["any", "own"]).annotate({
    description: "The failures that the proposer sees: any of the latest step, or the parent's own"
  }),
  capacitySteps: Positive.annotate({ description: "Steps an experience stays in the replay buffer" }),
  perQuestionCap: Schema.NullOr(Positive).annotate({ description: "Most experiences stored per question" }),
  parent: Schema.Literals(["in-turn", "random"]).annotate({ description: "The first parent of a round of proposals" }),
  lint: Schema.Literals(["parsed", "strict"]).annotate({
    description:
      "Which candidates are accepted: all with a text, or those with all tags, no duplicate, no golden answer"
  }),
  onError: Schema.Literals(["stop", "continue"]).annotate({
    description: "When the proposer fails: stop the run, or retry twice and continue without candidates"
  }),
  rounds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })).annotate({
    description: "Rounds of proposals and verification per evolution"
  }),
  questions: Schema.Literals(["uniform", "subset", "distinct"]).annotate({
    description: "D_B: with replacement, a random subset, or distinct recent questions without the reflected ones"
  }),
  baseline: Schema.Literals(Struct.keys(verifications)).annotate({
    description: "The score a candidate must reach: the parent's record, where it covers the questions, or rerun"
  }),
  fill: Schema.Boolean.annotate({ description: "Whether the best rejected candidates fill empty places" }),
  instruction: Schema.Literals(["best", "proven"]).annotate({
    description: "The instruction to return: the best, or the seed unless the best is better by a 95 % interval"
  })
})
export interface Rules extends Schema.Schema.Type<typeof Rules> {}

/** As in the paper. */
const paper: Rules = {
  average: "draws",
  window: 5,
  ties: "order",
  shares: "softmax",
  temperature: 0.2,
  assignment: "independent",
  removal: "bottom-half",
  risk: 0.05,
  ranking: "before",
  failures: "any",
  capacitySteps: 1,
  perQuestionCap: null,
  parent: "random",
  lint: "parsed",
  onError: "stop",
  rounds: 5,
  questions: "subset",
  baseline: "stored",
  fill: true,
  instruction: "best"
}

/** Decisions by paired evidence, with a stated risk. */
const evidence: Rules = {
  average: "questions",
  window: 5,
  ties: "evidence",
  shares: "thompson",
  temperature: 0.2,
  assignment: "stratified",
  removal: "evidence",
  risk: 0.05,
  ranking: "after",
  failures: "own",
  capacitySteps: 5,
  perQuestionCap: 10,
  parent: "in-turn",
  lint: "strict",
  onError: "continue",
  rounds: 1,
  questions: "distinct",
  baseline: "rerun",
  fill: false,
  instruction: "proven"
}

/** The registry of sets, by name. */
export const sets = { paper, evidence } as const satisfies Record<string, Rules>

/** The name of a set. */
export const Name = Schema.Literals(["paper", "evidence"])
export type Name = typeof Name.Type

/** A set by its name, or the choices themselves, for an ablation: encoded as the name where they are those of a set. */
export const Selection = Schema.Union([Name, Rules])
  .annotate({
    description:
      "The rules that instructions live by: those of the `paper`, or decisions by `evidence`. An ablation changes a single choice, as `selection.average=steps`; docs/algorithm.md lists them"
  })
  .pipe(
    Schema.decodeTo(Schema.toType(Rules), {
      decode: SchemaGetter.transform((given) => (typeof given === "string" ? sets[given] : given)),
      encode: SchemaGetter.transform((rules) => nameOf(rules) ?? rules)
    })
  )

/** The set with these choices, or null. */
export const nameOf = (rules: Rules): Name | null =>
  Name.literals.find((name) => Equal.equals(sets[name], rules)) ?? null
