import { Array as Arr, Effect, Struct } from "effect"
import { Exact } from "@inspo/statistics"
import { median, sum } from "simple-statistics"
import type { Population } from "@inspo/population"
import type { Host } from "./Host.ts"
import { assertSimulations, save, simulateAll, type SimulationInput } from "./Simulations.ts"
import {
  type Calibrated,
  type Chosen,
  type Contest,
  type Decided,
  type Drifted,
  type Evolved,
  figure,
  markdown,
  type Needed,
  type PruningResult,
  type Separated
} from "./PruningResult.ts"
import * as Drift from "./simulation/Drift.ts"
import * as Evolving from "./simulation/Evolving.ts"
import * as Loop from "./simulation/Loop.ts"
import * as Oracle from "./simulation/Oracle.ts"
import * as Pair from "./simulation/Pair.ts"
import { type Budget, type Name, type Rule, rulesFor } from "./simulation/Rules.ts"
import * as World from "./simulation/World.ts"

/**
 * Simulates rules of choosing among instructions whose values are known: how often a rule loses the best at an equal budget,
 * the rollouts that it needs, and what newcomers, drift, repeated cases and missing rewards change.
 */
export const bench = Effect.fn("Pruning.bench")(function* <E, R>(host: Host<E, R>, input: SimulationInput) {
  yield* assertSimulations(input)
  const { out, seed } = input
  const few = (part: number) => Math.ceil(input.simulations / part)

  const contests: Array<Contest> = []
  for (const { budget = paperBudget, missingRewards = "worst", names, part, title, world } of plan) {
    yield* host.print([title])
    const count = few(part)
    const rows = yield* Effect.forEach(names, (name) => {
      const rule = counting(missingRewards, rulesFor(budget)[name])
      return Effect.map(
        simulateAll(count, seed, (each) => Loop.simulate(world, rule, budget, each)),
        (outcomes) => chosen(name, rule.name, outcomes)
      )
    })
    const best = {
      name: null,
      rule: oracle,
      lost: Exact.proportion(Oracle.lost(world, rolloutsOf(budget), count, seed), count)
    }
    contests.push({ title, budget, rows: isPlain(world) ? [...rows, { ...unknown, ...best }] : rows })
  }

  yield* host.print(["Rollouts to 5 %"])
  const needed = yield* Effect.forEach(needs, (name) => need(name, few(40), seed))
  yield* host.print(["Until one is left"])
  const decided = yield* Effect.forEach(decisions, (decision) => decide(decision, few(decision.part), seed))
  yield* host.print(["What a difference needs"])
  const separated = yield* Effect.forEach(pairs, (pair) => separate(pair, few(20), seed))
  yield* host.print(["Drift"])
  const drifted = yield* Effect.forEach(estimates, ({ name, title }) => drift(name, title, few(20), seed))
  yield* host.print(["Evolution"])
  const evolved = yield* Effect.forEach(runs, (run) => evolve(run, few(20), seed))

  const result: PruningResult = {
    bench: "pruning",
    seed,
    contests,
    calibrated: calibrations(contests),
    needed,
    decided,
    separated,
    drifted,
    evolved
  }
  for (const contest of contests.slice(1, 2))
    yield* host.write(`${out}/selection.svg`, figure(contest, ["paper", "unpaired", "groups", "samples"]))
  yield* save(host, out, result, markdown(result))
  return result
})

const paperBudget: Budget = { steps: 15, questions: 64, groupSize: 5 }
const rolloutsOf = ({ groupSize, questions, steps }: Budget): number => steps * questions * groupSize

/** Seven instructions of which one is better than the others, all equal. */
const oneBest = (gap: number, others = 0.35, question = 0.25, interaction = 0.05): World.World =>
  World.make({ values: [others + gap, ...Arr.replicate(others, 6)], question, interaction })
const ladder = World.make({
  values: [0.378, 0.35, 0.34, 0.33, 0.32, 0.31, 0.3],
  question: 0.25,
  interaction: 0.05
})

/** Whether {@link Oracle.lost} is defined: the answers only depend on the values. */
const isPlain = ({ cases, drift = 0, missing }: World.World): boolean =>
  cases === undefined && missing === undefined && drift === 0

const all: ReadonlyArray<Name> = ["paper", "unpaired", "paired", "trueSkill", "racing", "alone", "groups", "samples"]
const some: ReadonlyArray<Name> = ["paper", "groups", "samples"]

interface Planned {
  readonly title: string
  readonly world: World.World
  readonly names: ReadonlyArray<Name>
  /** One simulation for so many of the headline. */
  readonly part: number
  readonly budget?: Budget
  readonly missingRewards?: Population.MissingRewards
}

const counting = (missingRewards: Population.MissingRewards, rule: Rule): Rule => ({
  ...rule,
  averaging: { ...rule.averaging, missingRewards }
})

const plan: ReadonlyArray<Planned> = [
  { title: "One is 2.8 points better than six equals", world: oneBest(0.028), names: [...all, "repeated"], part: 1 },
  { title: "One is 5 points better", world: oneBest(0.05), names: [...all, "repeated"], part: 1 },
  { title: "One is 10 points better", world: oneBest(0.1), names: all, part: 10 },
  {
    title: "The question decides more (40 % and 20 % of the variance)",
    world: oneBest(0.028, 0.35, 0.4, 0.2),
    names: all,
    part: 10
  },
  { title: "The best is 2.8 points ahead, the others one point apart", world: ladder, names: all, part: 10 },
  { title: "Rare successes: 2 % and six of 1 %", world: oneBest(0.01, 0.01, 0.15, 0.05), names: all, part: 10 },
  ...[
    { steps: 60, questions: 16, groupSize: 5 },
    { steps: 15, questions: 512, groupSize: 5 },
    { steps: 55, questions: 16, groupSize: 1 }
  ].flatMap((budget) =>
    [0.028, 0.05, 0.1].map((gap) => ({
      title: `One is ${Math.round(1000 * gap) / 10} points better`,
      world: oneBest(gap),
      names: some,
      part: 10,
      budget
    }))
  ),
  { title: "+5, the same 100 cases again and again", world: { ...oneBest(0.05), cases: 100 }, names: some, part: 10 },
  { title: "+5, all improve by 0.5 points a step", world: { ...oneBest(0.05), drift: 0.005 }, names: some, part: 10 },
  {
    title: "+5, a reward in ten is missing at random",
    world: { ...oneBest(0.05), missing: { failure: 0.1, success: 0.1 } },
    names: some,
    part: 10
  },
  {
    title: "+5, the same, counted as 0",
    world: { ...oneBest(0.05), missing: { failure: 0.1, success: 0.1 } },
    missingRewards: { value: 0 },
    names: some,
    part: 10
  },
  {
    title: "+5, a failure in five has no reward",
    world: { ...oneBest(0.05), missing: { failure: 0.2, success: 0 } },
    names: some,
    part: 10
  }
]

const oracle = "static allocation that knows all values"
const unknown = { lostAfter: null, removed: null, regret: null, left: null, sure: null }

const countIf = (outcomes: ReadonlyArray<Loop.Outcome>, holds: (outcome: Loop.Outcome) => boolean) =>
  Exact.proportion(outcomes.filter(holds).length, outcomes.length)

const chosen = (name: Name, rule: string, outcomes: ReadonlyArray<Loop.Outcome>): Chosen => {
  const sure = outcomes.filter((outcome) => outcome.sure !== null)
  return {
    name,
    rule,
    lost: countIf(outcomes, ({ lost }) => lost),
    lostAfter: Arr.makeBy(outcomes[0]?.lostAfter.length ?? 0, (step) =>
      countIf(outcomes, ({ lostAfter }) => lostAfter[step] === true)
    ),
    removed: countIf(outcomes, ({ removed }) => removed),
    regret: Exact.estimate(outcomes.map(({ regret }) => regret)),
    left: median(outcomes.map(({ left }) => left)),
    sure: sure.length === 0 ? null : countIf(sure, (outcome) => outcome.sure === true)
  }
}

const calibrations = (contests: ReadonlyArray<Contest>): ReadonlyArray<Calibrated> => {
  const rows = contests.flatMap((contest) => contest.rows)
  return some.flatMap((name) => {
    const sure = rows.flatMap((row) => (row.name === name && name !== "paper" && row.sure !== null ? [row.sure] : []))
    const n = sum(sure.map((one) => one.n))
    if (n === 0) return []
    return [
      {
        rule: rulesFor(paperBudget)[name].name,
        right: Exact.proportion(sum(sure.map(({ successes }) => successes)), n)
      }
    ]
  })
}

const needs: ReadonlyArray<Name> = ["paper", "unpaired", "paired", "trueSkill", "groups", "samples"]
const multiples = [1, 2, 4, 8, 16]
const target = 0.05

/** More questions a step until the best is lost in at most 5 %, interpolated on logarithmic scales. */
const need = Effect.fnUntraced(function* (name: Name, count: number, seed: number) {
  const world = oneBest(0.028)
  const points: Array<Needed["points"][number]> = []
  for (const multiple of multiples) {
    const budget = { ...paperBudget, questions: paperBudget.questions * multiple }
    const outcomes = yield* simulateAll(count, seed, (each) =>
      Loop.simulate(world, rulesFor(budget)[name], budget, each)
    )
    points.push({ rollouts: rolloutsOf(budget), lost: countIf(outcomes, ({ lost }) => lost) })
    if ((points.at(-1)?.lost.share ?? 1) <= target) break
  }
  const [before, after] = points.slice(-2)
  const needed: Needed = { rule: rulesFor(paperBudget)[name].name, points, rollouts: crossing(before, after) }
  return needed
})

const crossing = (before: Needed["points"][number] | undefined, after: Needed["points"][number] | undefined) => {
  if (before === undefined || before.lost.share <= target) return before?.rollouts ?? null
  if (after === undefined || after.lost.share > target) return null
  const [most, least] = [before, after].map(({ lost }) => Math.log(Math.max(lost.share, 0.5 / lost.n)))
  const part = ((most ?? 0) - Math.log(target)) / ((most ?? 0) - (least ?? 0))
  return before.rollouts * (after.rollouts / before.rollouts) ** part
}

interface Decision {
  readonly title: string
  readonly name: Name
  readonly world: World.World
  readonly steps: number
  readonly part: number
}

const decisions: ReadonlyArray<Decision> = [
  { gap: 0.028, steps: 160, part: 40 },
  { gap: 0.05, steps: 160, part: 40 },
  { gap: 0.002, steps: 60, part: 20 }
].flatMap(({ gap, part, steps }) =>
  (["even", "groups", "samples"] as const).map((name) => ({
    title: `+${Math.round(1000 * gap) / 10}`,
    name,
    world: oneBest(gap),
    steps,
    part
  }))
)

const decide = Effect.fnUntraced(function* ({ name, steps, title, world }: Decision, count: number, seed: number) {
  const budget = { ...paperBudget, questions: 128, steps }
  const rule = rulesFor(budget)[name]
  const outcomes = yield* simulateAll(count, seed, (each) => Loop.simulate(world, rule, budget, each))
  const middle = median(outcomes.map(({ decidedAt }) => decidedAt ?? Infinity))
  const decided: Decided = {
    world: title,
    rule: rule.name,
    limit: rolloutsOf(budget),
    rollouts: Number.isFinite(middle) ? rolloutsOf({ ...budget, steps: middle }) : null,
    decided: countIf(outcomes, ({ decidedAt }) => decidedAt !== null),
    removed: countIf(outcomes, ({ removed }) => removed)
  }
  return decided
})

const pairs = [0.02, 0.05, 0.1, 0.2].flatMap((gap) => Struct.keys(Pair.designs).map((design) => ({ gap, design })))

const separate = Effect.fnUntraced(function* ({ design, gap }: (typeof pairs)[number], count: number, seed: number) {
  const outcomes = yield* simulateAll(count, seed, (each) => Pair.simulate(gap, design, each))
  const shown = Pair.looks.findIndex(
    (_, look) => outcomes.filter((outcome) => outcome.shown[look] ?? !outcome.wrong).length >= 0.8 * count
  )
  const removed = median(outcomes.map(({ removedAt }) => removedAt ?? Infinity))
  const separated: Separated = {
    gap,
    design,
    simulations: count,
    shown: Pair.looks[shown] ?? null,
    removed: Number.isFinite(removed) ? removed : null,
    wrong: Exact.proportion(outcomes.filter(({ wrong }) => wrong).length, count)
  }
  return separated
})

const estimates: ReadonlyArray<{ readonly title: string; readonly name: Name }> = [
  { title: "lifetime mean", name: "unpaired" },
  { title: "Eq. 6, window 5", name: "paper" },
  { title: "within questions, whole groups", name: "groups" },
  { title: "within questions, shared groups", name: "samples" }
]

const drift = Effect.fnUntraced(function* (name: Name, title: string, count: number, seed: number) {
  const rule = rulesFor(paperBudget)[name]
  const biases = yield* simulateAll(count, seed, (each) => Drift.bias(rule, paperBudget, each))
  const drifted: Drifted = {
    estimate: title,
    biases: Drift.looks.map((steps, place) => ({
      steps,
      bias: Exact.estimate(biases.flatMap((own) => own.slice(place, place + 1)))
    }))
  }
  return drifted
})

interface Run {
  readonly title: string
  readonly name: Name
  readonly entry: Evolving.Entry
  readonly questions: number
}

const runs: ReadonlyArray<Run> = [
  {
    title: "the paper's: 5 rounds of verification, filled",
    name: "paper",
    entry: Evolving.verified(5, true),
    questions: 64
  },
  { title: "the same, 1 round", name: "paper", entry: Evolving.verified(1, true), questions: 64 },
  { title: "the same, 1 round, not filled", name: "paper", entry: Evolving.verified(1, false), questions: 64 },
  { title: "evidence: whole groups, untried newcomers", name: "groups", entry: Evolving.untried, questions: 64 },
  { title: "evidence: shared groups, untried newcomers", name: "samples", entry: Evolving.untried, questions: 64 },
  { title: "the same with the rollouts of 1 round", name: "samples", entry: Evolving.untried, questions: 76 }
]

const evolve = Effect.fnUntraced(function* ({ entry, name, questions, title }: Run, count: number, seed: number) {
  const budget = { steps: 60, questions, groupSize: 5 }
  const rule = rulesFor(budget)[name]
  const outcomes = yield* simulateAll(count, seed, (each) => Evolving.simulate(rule, entry, budget, each))
  const above = (value: (outcome: Evolving.Outcome) => number) =>
    Exact.estimate(outcomes.map((outcome) => value(outcome) - Evolving.spread.members[0]))
  const evolved: Evolved = {
    rule: title,
    rollouts: rolloutsOf(budget),
    verification: Exact.estimate(outcomes.map(({ verification }) => verification)),
    training: above(({ training }) => training),
    returned: above(({ returned }) => returned),
    best: above(({ best }) => best)
  }
  return evolved
})
