/** What a probe found, as a document and as lines. */
import { Probe as Rule, type Plan, type ProbeRollouts } from "@inspo/analysis"
import type { RunConfig } from "@inspo/config"
import { Text, count, interval, percent, plural, points } from "@inspo/report"
import { Group, Invariant } from "@inspo/domain"
import { Bootstrap, Exact, Interval, Spread } from "@inspo/statistics"
import { type Effect, Schema } from "effect"
import { sumAll } from "effect/Number"

const Share = Schema.Struct({ share: Schema.Finite, ci95: Interval.Interval })

/** The standard deviation of true means in units of reward, its 95 % interval, and the p-value of a permutation test. */
const Deviation = Schema.Struct({
  deviation: Schema.Finite,
  ci95: Schema.NullOr(Interval.Interval),
  p: Schema.Finite
})

/**
 * What `inspo plan --probe --json` adds to the plan, and a public contract.
 *
 * - `verdict`, `possible`: the rule of `@inspo/coevolution/Probe`; `undecided` where several verdicts are possible.
 * - `rolloutsNeeded`: about how many more rollouts decide; 0 if it is decided, null if not even as many as the run has, or as there are
 *   questions for.
 * - `instructions`: the seed first. `reached` is the share of groups from which GRPO learns or has nothing to learn, with its exact interval;
 *   `reward` is the mean, and the interval is that of a share of as many questions; `gain` is the difference from the seed on the same
 *   questions.
 * - `spread`: of the true means of instructions, and of questions, over the questions that all were asked; null without variants.
 * - `startShare`: the share of reached groups above which training starts; null if the policy does not train.
 * - `tellsApart`: the smallest gain that is shown at 95 %, by the rollouts in which the run compares its instructions, and by those of the
 *   probe; null without variants.
 */
export const Probe = Schema.Struct({
  verdict: Schema.Literals([...Rule.Decision.literals, "undecided"]),
  possible: Schema.Array(Rule.Decision),
  rolloutsNeeded: Schema.NullOr(Schema.Int),
  rollouts: Schema.Int,
  failed: Schema.Int,
  tokens: Schema.Int,
  proposerFailure: Schema.NullOr(Schema.String),
  instructions: Schema.Array(
    Schema.Struct({
      text: Schema.String,
      groups: Schema.Int,
      rollouts: Schema.Int,
      rewarded: Schema.Int,
      reached: Share,
      reward: Share,
      gain: Schema.NullOr(Schema.Struct({ mean: Schema.Finite, ci95: Interval.Interval }))
    })
  ),
  spread: Schema.NullOr(Schema.Struct({ instructions: Deviation, questions: Deviation })),
  startShare: Schema.NullOr(Schema.Finite),
  tellsApart: Schema.NullOr(Schema.Struct({ run: Schema.Finite, probe: Schema.Finite }))
})
export interface Probe extends Schema.Schema.Type<typeof Probe> {}

type Found = Effect.Success<ReturnType<typeof ProbeRollouts.probe>>

type Planned = Pick<Rule.Evidence, "runGroups" | "trains">

/** What a probe has to know about the run. */
export const plannedOf = ({ rollout, schedule, train }: RunConfig, { rollouts }: Plan.Forecast): Planned => ({
  trains: train.fromStep !== null && train.fromStep <= schedule.steps,
  runGroups: rollouts.train / rollout.groupSize
})

/** Judges the groups of a probe; `questions` is how many there are to train on. */
export const make = (
  { population, randomSeed }: RunConfig,
  { runGroups, trains }: Planned,
  { failed, groups, instructions, proposerFailure }: Found,
  questions: number
): Probe => {
  const byInstruction = instructions.map(({ id }) => groups.filter(({ instructionId }) => instructionId === id))
  const counted = Rule.evidenceOf(instructions, groups)
  const half = Bootstrap.meanOf(counted.variants.map((variant) => variant.half))
  const shared = Bootstrap.meanOf(counted.variants.map((variant) => variant.groups))
  const tellsApart =
    half === null || shared === null
      ? null
      : { run: Rule.tellsApart(half, shared, { trains, runGroups, population: population.size }), probe: half }
  const evidence: Rule.Evidence = { ...counted, trains, runGroups, tellsApart: tellsApart?.run ?? 1 }
  const possible = Rule.possible(evidence)
  const [only, ...others] = possible
  const times = Rule.timesNeeded(evidence, Math.min(runGroups / groups.length, questions / counted.seed.groups))
  const rollouts = sumAll(groups.map(({ rewards }) => rewards.length))
  return {
    verdict: only !== undefined && others.length === 0 ? only : "undecided",
    possible,
    rolloutsNeeded: times === null ? null : Math.ceil((times - 1) * rollouts),
    rollouts,
    failed: failed.trajectories,
    tokens: sumAll(groups.map(Group.tokens)) + failed.tokens,
    proposerFailure: proposerFailure?.message ?? null,
    instructions: instructions.map(({ text }, place) => {
      const own = byInstruction[place] ?? []
      const rewards = own.flatMap((group) => group.rewards)
      const variant = place === 0 ? undefined : counted.variants[place - 1]
      return {
        text,
        groups: own.length,
        rollouts: rewards.length,
        rewarded: rewards.filter((reward) => reward > 0).length,
        reached: shareOf(own.filter((group) => Rule.isReached(group.rewards)).length, own.length),
        reward: shareOf(sumAll(own.map(Group.meanReward)), own.length),
        gain: variant === undefined ? null : gainOf(variant)
      }
    }),
    spread: spreadOf(byInstruction, randomSeed),
    startShare: trains ? Rule.startShare(runGroups) : null,
    tellsApart
  }
}

const shareOf = (successes: number, n: number) => {
  const { ci95, share } = Exact.proportion(successes, n)
  return { share, ci95 }
}

const gainOf = ({ gain, half }: Rule.Variant) => {
  const ci95: Interval.Interval = [gain - half, gain + half]
  return { mean: gain, ci95 }
}

/** Over the questions that all instructions were asked; null unless two of each are there. */
const spreadOf = (byInstruction: ReadonlyArray<ReadonlyArray<Group.Group>>, seed: number) => {
  const means = byInstruction.map((own) => new Map(own.map((group) => [group.questionId, Group.meanReward(group)])))
  const rows = [...(means[0]?.keys() ?? [])].flatMap((question) => {
    const row = means.flatMap((known) => known.get(question) ?? [])
    return row.length === means.length ? [row] : []
  })
  const [first] = rows
  if (first === undefined || first.length < 2 || rows.length < 2) return null
  const options = { permutations: 10_000, seed }
  const transposed = first.map((_, at) => rows.map((row) => Invariant.at(row, at, "mean reward")))
  return {
    instructions: deviationOf(Spread.spread(rows, options)),
    questions: deviationOf(Spread.spread(transposed, options))
  }
}

/** An estimate of a variance can be below 0. */
const deviationOf = ({ between, ci95, p }: Spread.Spread): typeof Deviation.Type => ({
  deviation: root(between),
  ci95: ci95 === null ? null : [root(ci95[0]), root(ci95[1])],
  p
})

const root = (variance: number): number => Math.sqrt(Math.max(0, variance))

export const lines = (probe: Probe, columns: number): ReadonlyArray<string> => [
  "",
  ...Text.table([
    ["instruction", "groups", "reached", "95 % interval", "reward", "gain, 95 % interval"],
    ...probe.instructions.map(({ gain, groups, reached, reward }, place) => [
      place === 0 ? "seed" : String(place),
      count(groups),
      percent(reached.share),
      interval(reached.ci95, percent),
      percent(reward.share),
      gain === null ? "" : `${points(gain.mean)} ${interval(gain.ci95, points)}`
    ])
  ]),
  "",
  ...probe.instructions.flatMap(({ text }, place) =>
    Text.paragraph(`${place === 0 ? "seed" : place}: ${text}`, "  ", columns)
  ),
  "",
  ...Text.wrap(figures(probe), columns),
  ...Text.wrap(differences(probe), columns),
  "",
  ...Text.wrap(conclusion(probe), columns)
]

const figures = ({ failed, instructions: [seed], proposerFailure, rollouts, startShare, tokens }: Probe): string =>
  [
    `${plural(rollouts, "rollout")} and ${count(tokens)} tokens${failed === 0 ? "" : `, without ${failed} that failed`}.`,
    seed && `Reward under the seed: ${percent(seed.reward.share)} ${interval(seed.reward.ci95, percent)} (95 %).`,
    "A group is reached if its rewards differ, or are all 1.",
    startShare !== null &&
      `Training starts if ${percent(startShare)} of the groups are reached: then the first third of the run reaches one with a ` +
        "probability of 95 %.",
    proposerFailure !== null && `The proposer wrote less than the run needs: ${proposerFailure}.`
  ]
    .filter(Boolean)
    .join(" ")

const differences = ({ spread, tellsApart }: Probe): string =>
  [
    spread !== null &&
      `Mean rewards of instructions have a standard deviation of ${percent(spread.instructions.deviation)} (p ` +
        `${spread.instructions.p.toPrecision(2)}), those of questions ${percent(spread.questions.deviation)} (p ` +
        `${spread.questions.p.toPrecision(2)}).`,
    tellsApart !== null &&
      `An instruction pays if it gains more than ${percent(tellsApart.run)}, which the run can show; this probe shows ` +
        `${percent(tellsApart.probe)}.`
  ]
    .filter(Boolean)
    .join(" ")

const conclusion = ({ possible, rolloutsNeeded, verdict }: Probe): string =>
  verdict === "undecided"
    ? `Undecided: ${possible.join(" or ")}. ` +
      (rolloutsNeeded === null
        ? "Not even as many rollouts as the run has, or as there are questions for, would decide."
        : `About ${count(rolloutsNeeded)} more rollouts would decide.`)
    : `Verdict: ${verdict}. ${meanings[verdict]}`

const meanings: Readonly<Record<Rule.Decision, string>> = {
  "evolve-first":
    "Training hardly sees a reward under the seed, but does under another instruction: evolve with train.fromStep=null, then train " +
    "with the best one, or set a later train.fromStep.",
  "evolve-along": "Another instruction gains more than the run needs to show it.",
  "train-plainly": "No other instruction gains enough for the run to show it in time.",
  "no-start":
    "Training hardly sees a reward under any of these instructions: name others in variants, or reward parts of what is wanted.",
  evolve: "Another instruction gains more than the run needs to show it.",
  "keep-seed": "No other instruction gains enough for the run to show it."
}
