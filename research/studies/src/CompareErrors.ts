import { RandomStream } from "@inspo/domain"
import { Conclude } from "@inspo/evolution"
import { Bounded, Exact } from "@inspo/statistics"
import { Number } from "effect"
import { type Pair, pairs, shifted } from "./compare/Agents.ts"
import { orDash, percent, table } from "./Format.ts"
import type { Host } from "./Host.ts"
import { simulated, type SimulationInput } from "./Simulations.ts"

/** What comparisons of one pair of agents say, where it differs by `difference` on average. */
export interface Row {
  readonly pair: string
  readonly difference: number
  readonly verdicts: Readonly<Record<Conclude.Shown["verdict"], number>>
  /** Simulations with a claim that is false. */
  readonly wrong: Readonly<Record<"better" | "no-worse" | "worse", Exact.Proportion>>
  /** Intervals that hold the difference: at the end of a comparison, and of some that look once at {@link once} cases. */
  readonly held: Exact.Proportion
  readonly heldOnce: Exact.Proportion
  /** Cases on average until the comparison knows, and as a multiple of those of a test that knows the difference. */
  readonly cases: number
  readonly timesFixed: number | null
  /** How often other rules call the candidate better. */
  readonly higherMean: Exact.Proportion
  readonly threeThenAll: Exact.Proportion
  readonly peeking: Exact.Proportion
}

export const margin = 0.05
const risk = 0.05
const once = 100
/** One look takes so few cases that each simulation makes it on several samples. */
const samplesOnce = 5
/** A comparison of equal agents may not end by itself; of others, cases are counted until it knows. */
const mostCases = (difference: number): number => (difference > 0 ? 1600 : 400)
const look = 4

/** Counts the false claims of `inspo compare` for simulated agents, at any stopping, beside other rules on the same data. */
export const bench = <E, R>(host: Host<E, R>, input: SimulationInput) =>
  simulated(
    host,
    input,
    "compare",
    pairs.flatMap((pair) =>
      [-margin, 0, 0.1].map((difference) => ({
        label: `${pair.name}, ${difference}`,
        simulate: (seed: number) => simulate(pair, difference, seed),
        row: (found: ReadonlyArray<Simulated>) => rowOf(pair, difference, found)
      }))
    ),
    markdown
  )

export interface Simulated {
  readonly shown: ReadonlySet<Conclude.Claim>
  readonly isHeld: boolean
  readonly heldOnce: number
  readonly cases: number
  readonly isHigher: boolean
  readonly isHigherOnThree: boolean
  readonly isPeeked: boolean
}

/** A comparison that looks after every few cases, with the rules of `inspo compare`. */
export const simulate = (pair: Pair, difference: number, seed: number): Simulated => {
  const stream = RandomStream.make(seed, ["compare", pair.name, String(difference)])
  const draw = shifted(pair, difference)
  const most = mostCases(difference)
  const all = Array.from({ length: most }, (_, nth) => draw(stream, nth))
  const exact = all.map((one) => ({ least: one, most: one }))
  const shown = new Set<Conclude.Claim>()
  let cases = 0
  while (cases < most && !isSettled(shown)) {
    cases += look
    const evidence = Conclude.evidence(exact.slice(0, cases), margin)
    for (const claim of Conclude.claims) if (evidence[claim] >= -Math.log(risk)) shown.add(claim)
  }
  const looks = Array.from({ length: cases / look }, (_, nth) => look * (nth + 1))
  const { lower, upper } = Conclude.narrowed(exact.slice(0, cases), looks, 2 * risk, Bounded.pairedBets)
  const first = all.slice(0, once)
  const samples = [
    first,
    ...Array.from({ length: samplesOnce - 1 }, () => Array.from({ length: once }, (_, nth) => draw(stream, nth)))
  ]
  const isIn = (one: number, other: number) => one <= difference + 1e-9 && difference <= other + 1e-9
  return {
    shown,
    cases,
    isHeld: isIn(lower, upper),
    heldOnce: samples.filter((sample) => isIn(...Bounded.differenceInterval(sample))).length,
    isHigher: Number.sumAll(first) > 1e-9,
    isHigherOnThree: Number.sumAll(first.slice(0, 3)) > 1e-9 && Number.sumAll(first) > 1e-9,
    isPeeked: Array.from({ length: once / look }, (_, at) => tOf(first.slice(0, look * (at + 1)))).some(
      (t) => t > 1.645
    )
  }
}

const isSettled = (shown: ReadonlySet<Conclude.Claim>): boolean =>
  shown.has("better") || shown.has("worse") || (shown.has("no-worse") && shown.has("no-gain"))

const varianceOf = (values: ReadonlyArray<number>): number => {
  const mean = Number.sumAll(values) / values.length
  return Number.sumAll(values.map((one) => (one - mean) ** 2)) / (values.length - 1)
}

/** The mean in standard errors. */
const tOf = (values: ReadonlyArray<number>): number => {
  const variance = varianceOf(values)
  return variance === 0 ? 0 : Number.sumAll(values) / values.length / Math.sqrt(variance / values.length)
}

/** The cases with which a test at the same risk that knows difference and variance finds it in nine of ten samples. */
const fixed = (pair: Pair, difference: number): number => {
  const stream = RandomStream.make(1, ["fixed", pair.name])
  const draw = shifted(pair, difference)
  const variance = varianceOf(Array.from({ length: 40_000 }, (_, nth) => draw(stream, nth % 400)))
  return ((1.645 + 1.2816) ** 2 * variance) / difference ** 2
}

export const rowOf = (pair: Pair, difference: number, all: ReadonlyArray<Simulated>): Row => {
  const share = (isSo: (one: Simulated) => boolean) => Exact.proportion(all.filter(isSo).length, all.length)
  const verdictOf = ({ shown }: Simulated) => Conclude.verdictOf(shown)
  const count = (verdict: Conclude.Shown["verdict"]) => all.filter((one) => verdictOf(one) === verdict).length
  const cases = Number.sumAll(all.map((one) => one.cases)) / all.length
  return {
    pair: pair.name,
    difference,
    verdicts: {
      better: count("better"),
      "no-worse": count("no-worse"),
      worse: count("worse"),
      undecided: count("undecided")
    },
    wrong: {
      better: share(({ shown }) => difference <= 0 && shown.has("better")),
      "no-worse": share(({ shown }) => difference <= -margin && shown.has("no-worse")),
      worse: share(({ shown }) => difference >= 0 && shown.has("worse"))
    },
    held: share(({ isHeld }) => isHeld),
    heldOnce: Exact.proportion(Number.sumAll(all.map((one) => one.heldOnce)), samplesOnce * all.length),
    cases,
    timesFixed: difference > 0 ? cases / fixed(pair, difference) : null,
    higherMean: share(({ isHigher }) => isHigher),
    threeThenAll: share(({ isHigherOnThree }) => isHigherOnThree),
    peeking: share(({ isPeeked }) => isPeeked)
  }
}

const markdown = (rows: ReadonlyArray<Row>, simulations: number): string =>
  [
    "# Errors of `inspo compare`",
    "",
    `${simulations} comparisons each, on up to ${mostCases(0)} cases, or ${mostCases(1)} where the candidate is better, a look after every ${look}; margin ${margin}. The last three columns are ` +
      `how often other rules call the candidate better on ${once} cases: a higher mean (as a table of results of promptfoo is read), a ` +
      "higher sum on three cases and then on all (as gepa accepts), and a paired t test at 5 % that looks as often. The fixed test knows the difference, and finds it in nine of ten samples.",
    "",
    ...table(rows, [
      ["agents", ({ pair }) => pair],
      ["difference", ({ difference }) => difference.toFixed(2)],
      ["false better", ({ wrong }) => percent(wrong.better.share)],
      ["false no worse", ({ wrong }) => percent(wrong["no-worse"].share)],
      ["false worse", ({ wrong }) => percent(wrong.worse.share)],
      ["interval holds", ({ held }) => percent(held.share)],
      ["one look holds", ({ heldOnce }) => percent(heldOnce.share)],
      ["cases", ({ cases }) => cases.toFixed(0)],
      ["× fixed test", ({ timesFixed }) => orDash(timesFixed, (times) => times.toFixed(2))],
      ["higher mean", ({ higherMean }) => percent(higherMean.share)],
      ["three, then all", ({ threeThenAll }) => percent(threeThenAll.share)],
      ["t test, peeking", ({ peeking }) => percent(peeking.share)]
    ]),
    ""
  ].join("\n")
