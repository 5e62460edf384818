import { count } from "@inspo/report"
import { Exact } from "@inspo/statistics"
import { mean } from "simple-statistics"
import type { Claims } from "./evolve/Claims.ts"
import { type Optimizer, others, type Outcome } from "./evolve/Outcome.ts"
import * as Power from "./evolve/Power.ts"
import { available } from "./evolve/Trial.ts"
import type { World } from "./evolve/World.ts"
import { interval, orDash, percent, points, table } from "./Format.ts"

/** A finished run. */
export interface Found {
  readonly optimizer: Optimizer
  readonly world: World
  readonly seed: number
  readonly outcome: Outcome
}

/** The runs of an optimizer with one kind of agent. All gains are true ones over the prompt that was given. */
export interface Row {
  readonly kind: string
  readonly headroom: boolean
  readonly optimizer: Optimizer
  /** The largest gain that there is. */
  readonly available: number
  readonly gain: Exact.Estimate | null
  /** The mean gain as a share of the available one; null without headroom. */
  readonly share: number | null
  /** Runs that return a prompt which is truly worse. */
  readonly worse: Exact.Proportion
  /** Null for optimizers without verdicts. */
  readonly verdicts: { readonly better: number; readonly undecided: number; readonly noHeadroom: number } | null
  readonly calls: number
}

/** All runs of an optimizer. */
export interface Summary {
  readonly optimizer: Optimizer
  readonly worse: Exact.Proportion
  /** Of the runs with headroom, those that end with `no-headroom`; null for optimizers without verdicts. */
  readonly missed: Exact.Proportion | null
  /** The share of the available gain in runs with headroom, on average over the kinds, with its interval over seeds. */
  readonly share: Exact.Estimate | null
  /** The same for runs that claim a better prompt; null for optimizers without verdicts. */
  readonly shareIfBetter: number | null
  /** Means over the runs: requests to the proposer, and the prompts that it wrote. */
  readonly requests: number
  readonly candidates: number
}

export interface EvolveResult {
  readonly bench: "evolve"
  readonly seed: number
  readonly calls: number
  readonly cases: number
  readonly rows: ReadonlyArray<Row>
  readonly summary: ReadonlyArray<Summary>
  /** How often a search shows a prompt to be better that is better by a known gain. */
  readonly shown: ReadonlyArray<Power.Shown>
  /** How often claims are false where they are hard. */
  readonly claims: ReadonlyArray<Claims>
}

/** A row for each kind of agent and optimizer of which there are runs. */
export const rowsOf = (found: ReadonlyArray<Found>): ReadonlyArray<Row> =>
  [...Map.groupBy(found, ({ optimizer, world }) => `${world.name} ${world.headroom} ${optimizer}`).values()]
    .flatMap((own) => own.slice(0, 1).map(({ optimizer, world }) => rowOf(optimizer, world, own)))
    .toSorted((one, other) => Number(other.headroom) - Number(one.headroom))

/** The optimizers of which there are runs, in their order. */
export const summaryOf = (found: ReadonlyArray<Found>): ReadonlyArray<Summary> =>
  ["inspo" as const, ...others].flatMap((optimizer) => {
    const own = found.filter((one) => one.optimizer === optimizer)
    if (own.length === 0) return []
    const hopeful = own.filter(({ world }) => world.headroom)
    const better = hopeful.filter(({ outcome }) => outcome.verdict === "better")
    const shareOf = ({ outcome, world }: Found) => outcome.gain / available(world)
    const shares = [...Map.groupBy(hopeful, ({ seed }) => seed).values()].map((runs) => mean(runs.map(shareOf)))
    const hasVerdicts = own.some(({ outcome }) => outcome.verdict !== null)
    const missed = hopeful.filter(({ outcome }) => outcome.verdict === "no-headroom").length
    return [
      {
        optimizer,
        worse: worseOf(own),
        missed: hasVerdicts && hopeful.length > 0 ? Exact.proportion(missed, hopeful.length) : null,
        share: Exact.estimate(shares),
        shareIfBetter: better.length === 0 ? null : mean(better.map(shareOf)),
        requests: mean(own.map(({ outcome }) => outcome.requests)),
        candidates: mean(own.map(({ outcome }) => outcome.candidates))
      }
    ]
  })

const rowOf = (optimizer: Optimizer, world: World, own: ReadonlyArray<Found>): Row => {
  const gains = own.map(({ outcome }) => outcome.gain)
  const most = available(world)
  const ended = (verdict: Outcome["verdict"]) => own.filter(({ outcome }) => outcome.verdict === verdict).length
  return {
    kind: world.name,
    headroom: world.headroom,
    optimizer,
    available: most,
    gain: Exact.estimate(gains),
    share: world.headroom ? mean(gains) / most : null,
    worse: worseOf(own),
    verdicts:
      ended(null) > 0
        ? null
        : { better: ended("better"), undecided: ended("undecided"), noHeadroom: ended("no-headroom") },
    calls: mean(own.map(({ outcome }) => outcome.calls))
  }
}

const worseOf = (own: ReadonlyArray<Found>): Exact.Proportion =>
  Exact.proportion(own.filter(({ outcome }) => outcome.gain < 0).length, own.length)

/** The result as a Markdown page. */
export const markdown = ({ calls, cases, claims, rows, shown, summary }: EvolveResult): string =>
  [
    "# A better prompt for simulated agents",
    "",
    `Each run has ${count(calls)} calls of the agent and ${count(cases)} cases. Every prompt of an agent has a known true value. All ` +
      "optimizers use the same scripted proposer, score and feedback. `gain` is the true gain of the returned prompt over the one that " +
      "was given, in points; `share` is its part of the largest gain that there is; `worse` is the runs that return a prompt which is " +
      "truly worse. Intervals are 95 %.",
    ...section(
      "With headroom",
      rows.filter(({ headroom }) => headroom)
    ),
    ...section(
      "Without headroom",
      rows.filter(({ headroom }) => !headroom)
    ),
    "",
    "## All runs",
    "",
    "`missed`: runs with headroom that end with `no-headroom`. `share if better`: the share of the runs that claim a better prompt. " +
      "`requests` to the proposer and `candidates` that it wrote are means over runs; the interval of the share is over seeds.",
    "",
    ...table(summary, [
      ["optimizer", ({ optimizer }) => optimizer],
      ["runs", ({ worse }) => count(worse.n)],
      ["worse", ({ worse }) => percent(worse.share)],
      ["interval", ({ worse }) => interval(worse)],
      ["missed", ({ missed }) => orDash(missed?.share, percent)],
      ["interval", ({ missed }) => orDash(missed, interval)],
      ["share", ({ share }) => orDash(share?.mean, percent)],
      ["interval", ({ share }) => orDash(share, interval)],
      ["share if better", ({ shareIfBetter }) => orDash(shareIfBetter, percent)],
      ["requests", ({ requests }) => requests.toFixed(1)],
      ["candidates", ({ candidates }) => candidates.toFixed(1)]
    ]),
    "",
    "## What cases can show",
    "",
    "An agent that is right in four of ten cases, and one sentence that is worth a gain. The share of searches that find it and show that it " +
      "is better, with its 95 % interval.",
    "",
    ...table(
      Power.budgets.map((budget) => ({ ...budget, own: shown.filter((one) => one.cases === budget.cases) })),
      [
        ["cases", ({ cases }) => count(cases)],
        ["calls", ({ calls }) => count(calls)],
        ["searches", ({ own }) => count(own[0]?.shown.n ?? 0)],
        ...Power.gains.map(
          (gain, at) =>
            [
              `${count(100 * gain)} points`,
              ({ own }: { readonly own: EvolveResult["shown"] }) => shareOf(own[at]?.shown)
            ] as const
        )
      ]
    ),
    "",
    "## What is claimed",
    "",
    "`denied`: of the searches that tried a prompt which is truly better by ten points, those that end with `no-headroom`. `covered`: of the " +
      "prompts that were tested, those whose true gain is in the 90 % interval of the test.",
    "",
    ...table(claims, [
      ["agent", ({ kind }) => kind],
      ["headroom", ({ headroom }) => (headroom ? "yes" : "no")],
      ["cases", (one) => count(one.cases)],
      ["calls", (one) => count(one.calls)],
      ["searches", ({ noHeadroom }) => count(noHeadroom.n)],
      ["no headroom", ({ noHeadroom }) => shareOf(noHeadroom)],
      ["tried", ({ denied }) => count(denied?.n ?? 0)],
      ["denied", ({ denied }) => shareOf(denied)],
      ["tested", ({ covered }) => count(covered?.n ?? 0)],
      ["covered", ({ covered }) => shareOf(covered)]
    ]),
    ""
  ].join("\n")

const shareOf = (one: Exact.Proportion | null | undefined): string =>
  orDash(one, (found) => `${percent(found.share)} ${interval(found)}`)

const section = (title: string, rows: ReadonlyArray<Row>): ReadonlyArray<string> => [
  "",
  `## ${title}`,
  "",
  ...table(rows, [
    ["agent", ({ kind }) => kind],
    ["optimizer", ({ optimizer }) => optimizer],
    ["runs", ({ worse }) => count(worse.n)],
    ["available", ({ available }) => points(available)],
    ["gain", ({ gain }) => orDash(gain?.mean, points)],
    ["interval", ({ gain }) => orDash(gain, interval)],
    ["share", ({ share }) => orDash(share, percent)],
    ["worse", ({ worse }) => percent(worse.share)],
    ["interval", ({ worse }) => interval(worse)],
    [
      "better / undecided / no headroom",
      ({ verdicts }) =>
        orDash(verdicts, ({ better, noHeadroom, undecided }) => `${better} / ${undecided} / ${noHeadroom}`)
    ],
    ["calls", ({ calls }) => count(Math.round(calls))]
  ])
]
