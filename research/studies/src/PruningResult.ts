import { Report } from "@inspo/dashboard"
import { Markdown, count } from "@inspo/report"
import type { Exact } from "@inspo/statistics"
import { Array as Arr } from "effect"
import { interval, percent, points } from "./Format.ts"
import * as Pair from "./simulation/Pair.ts"
import type { Budget, Name } from "./simulation/Rules.ts"

/** A rule in a world. Null where a rule has no such result. */
export interface Chosen {
  readonly name: Name | null
  readonly rule: string
  /** Simulations that return another instruction than the best. */
  readonly lost: Exact.Proportion
  /** The same after each step: another instruction leads. */
  readonly lostAfter: ReadonlyArray<Exact.Proportion> | null
  /** Simulations in which a pruning removed the best. */
  readonly removed: Exact.Proportion | null
  /** How much worse than the best the instructions of the rollouts were. */
  readonly regret: Exact.Estimate | null
  /** Median number of instructions left. */
  readonly left: number | null
  /** Of the simulations that end with a P(best) of at least 0.9, those where it is the best. */
  readonly sure: Exact.Proportion | null
}

/** The rules in a world at the same budget. */
export interface Contest {
  readonly title: string
  readonly budget: Budget
  readonly rows: ReadonlyArray<Chosen>
}

/** Of all simulations that end with a P(best) of at least 0.9, those where it is the best. */
export interface Calibrated {
  readonly rule: string
  readonly right: Exact.Proportion
}

/** The rollouts until the best is lost in 5 % of the simulations; null if that takes more than were tried. */
export interface Needed {
  readonly rule: string
  readonly rollouts: number | null
  readonly points: ReadonlyArray<{ readonly rollouts: number; readonly lost: Exact.Proportion }>
}

/** The median rollouts until one instruction is left, of at most `limit`; null if less than half of the simulations decide. */
export interface Decided {
  readonly world: string
  readonly rule: string
  readonly limit: number
  readonly rollouts: number | null
  readonly decided: Exact.Proportion
  readonly removed: Exact.Proportion
}

/**
 * The rollouts of two instructions together that a difference needs: until P(best) of the better one is at least 0.95 in 80 % of
 * the simulations, and until half of them have removed the worse one at a risk of 5 %. Null where that takes more than were tried.
 */
export interface Separated {
  readonly gap: number
  readonly design: Pair.Design
  readonly simulations: number
  readonly shown: number | null
  readonly removed: number | null
  /** Simulations that removed the better one. */
  readonly wrong: Exact.Proportion
}

/** How much an estimate favours newcomers, so many steps after they entered. */
export interface Drifted {
  readonly estimate: string
  readonly biases: ReadonlyArray<{ readonly steps: number; readonly bias: Exact.Estimate | null }>
}

/** A run with evolution: rollouts for training and for verification, and values above the mean of the first members. */
export interface Evolved {
  readonly rule: string
  readonly rollouts: number
  readonly verification: Exact.Estimate | null
  readonly training: Exact.Estimate | null
  readonly returned: Exact.Estimate | null
  readonly best: Exact.Estimate | null
}

export interface PruningResult {
  readonly bench: "pruning"
  readonly seed: number
  readonly contests: ReadonlyArray<Contest>
  readonly calibrated: ReadonlyArray<Calibrated>
  readonly needed: ReadonlyArray<Needed>
  readonly decided: ReadonlyArray<Decided>
  readonly separated: ReadonlyArray<Separated>
  readonly drifted: ReadonlyArray<Drifted>
  readonly evolved: ReadonlyArray<Evolved>
}

/** The result as a Markdown page. */
export const markdown = (result: PruningResult): string =>
  [
    "# Choosing among instructions",
    "",
    "Simulations with known values: seven instructions, rewards 0 or 1. Where a title says nothing else, the others succeed in " +
      "35 % of the rollouts, and the variance of a reward is 25 % the question, 5 % the question under this instruction, and " +
      "70 % chance. `lost`: another instruction than the best is returned. `removed`: a pruning removed the best. " +
      "`regret`: how many points worse than the best the instructions of the rollouts were. Intervals are 95 %.",
    ...result.contests.flatMap(contest),
    ...section("P(best) of at least 0.9", [
      ["rule", "simulations", "right", "interval"],
      ...result.calibrated.map(({ right, rule }) => [rule, count(right.n), percent(right.share), interval(right)])
    ]),
    ...section("Rollouts to 5 % lost, +2.8", needs(result)),
    ...section("Until one is left, at a risk of 5 %", decisions(result)),
    ...section(
      "What a difference needs",
      separations(result),
      "Two instructions around 50 %. Rollouts of both together until P(best) of the better one is at least 95 % in four of five " +
        "simulations / until half of the simulations have removed the worse one at a risk of 5 %."
    ),
    ...section(
      "How much drift favours newcomers",
      [
        ["estimate", ...(result.drifted[0]?.biases.map(({ steps }) => String(steps)) ?? [])],
        ...result.drifted.map(({ biases, estimate }) => [estimate, ...biases.map(({ bias }) => mean(bias, 1))])
      ],
      "Equal instructions, three of which enter after step 30, while all improve by 0.5 points a step. Points, by steps after that."
    ),
    ...section(
      "With evolution",
      evolutions(result),
      "60 steps, an evolution every 15: members of 35 ± 3 %, candidates 2 ± 4 points below their parent. Values in points above 35 %."
    ),
    ""
  ].join("\n")

type Rows = ReadonlyArray<ReadonlyArray<string>>

const section = (title: string, rows: Rows, note?: string): ReadonlyArray<string> => [
  "",
  `## ${title}`,
  "",
  ...(note === undefined ? [] : [note, ""]),
  ...Markdown.table(rows)
]

const contest = ({ budget: { groupSize, questions, steps }, rows, title }: Contest) =>
  section(`${title}; ${steps} × ${questions} × ${groupSize} rollouts`, [
    ["rule", "simulations", "lost", "interval", "removed", "regret", "left"],
    ...rows.map(({ left, lost, regret, removed, rule }) => [
      rule,
      count(lost.n),
      percent(lost.share),
      interval(lost),
      removed === null ? "–" : percent(removed.share),
      mean(regret, 2),
      left === null ? "–" : String(left)
    ])
  ])

const needs = ({ needed }: PruningResult): Rows => [
  ["rule", "simulations", "rollouts", "lost at 4,800, 9,600, …"],
  ...needed.map(({ points, rollouts, rule }) => [
    rule,
    count(points[0]?.lost.n ?? 0),
    rollouts === null ? `more than ${count(points.at(-1)?.rollouts ?? 0)}` : count(rollouts),
    points.map(({ lost }) => percent(lost.share)).join(", ")
  ])
]

const decisions = ({ decided }: PruningResult): Rows => [
  ["best", "rule", "simulations", "rollouts, median", "decided", "removed the best", "interval"],
  ...decided.map(({ decided, limit, removed, rollouts, rule, world }) => [
    world,
    rule,
    count(decided.n),
    rollouts === null ? `more than ${count(limit)}` : count(rollouts),
    percent(decided.share),
    percent(removed.share),
    interval(removed)
  ])
]

const separations = ({ separated }: PruningResult): Rows => {
  const designs = Object.keys(Pair.designs)
  const rollouts = (needed: number | null) => (needed === null ? `> ${count(Pair.looks.at(-1) ?? 0)}` : count(needed))
  return [
    ["difference, points", ...designs],
    ...[...new Set(separated.map(({ gap }) => gap))].map((gap) => [
      points(gap),
      ...designs.flatMap((design) =>
        separated.flatMap((one) =>
          one.gap === gap && one.design === design ? [`${rollouts(one.shown)} / ${rollouts(one.removed)}`] : []
        )
      )
    ])
  ]
}

const evolutions = ({ evolved }: PruningResult): Rows => [
  ["rule", "simulations", "rollouts", "for verification", "training", "returned", "interval", "best member"],
  ...evolved.map(({ best, returned, rollouts, rule, training, verification }) => [
    rule,
    count(returned?.n ?? 0),
    count(rollouts),
    count(verification?.mean ?? 0),
    mean(training, 2),
    mean(returned, 2),
    returned === null ? "–" : interval(returned),
    mean(best, 2)
  ])
]

/** How often another instruction than the best leads, by the rollouts of the steps so far, under some rules of a contest. */
export const figure = ({ budget, rows, title }: Contest, names: ReadonlyArray<Name>): string =>
  Report.svg({
    title: `Another instruction leads, % (${title.toLowerCase()})`,
    steps: Arr.makeBy(budget.steps, (index) => (index + 1) * budget.questions * budget.groupSize),
    curves: names.flatMap((name, index) =>
      rows.flatMap(({ lostAfter, name: own, rule }) =>
        own === name && lostAfter !== null
          ? [
              {
                label: rule,
                values: lostAfter.map(({ share }) => 100 * share),
                band: lostAfter.map(({ ci95: [low, high] }) => [100 * low, 100 * high] as const),
                tone: `c${index}`
              }
            ]
          : []
      )
    ),
    fromZero: true
  })

/** Points with so many digits. */
const mean = (estimate: Exact.Estimate | null, digits: number): string =>
  estimate === null ? "–" : (100 * estimate.mean).toFixed(digits)
