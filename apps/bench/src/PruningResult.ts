import { count } from "@inspo/dashboard/Format"
import { table as markdownTable } from "@inspo/dashboard/report/MarkdownText"
import { interval, percent } from "./Format.ts"
import type { Proportion } from "@inspo/statistics/Exact"

/** The result of a rule at the common budget. */
export interface RuleResult {
  readonly rule: string
  readonly delta: number | null
  /** Simulations that pruned the best instruction. */
  readonly lost: Proportion
  /** Simulations whose I* is the best instruction at the end. */
  readonly found: Proportion
  /** Median number of instructions left. */
  readonly left: number
}

/** The steps of the confident rule until one instruction is left. */
export interface Need {
  readonly delta: number
  readonly batchSize: number
  readonly lost: Proportion
  readonly decided: Proportion
  /** Null if less than half of the simulations reached a decision. */
  readonly medianSteps: number | null
  /** Median number of instructions left. */
  readonly left: number
}

export interface WorldResult {
  readonly description: string
  readonly means: ReadonlyArray<number>
  readonly rules: ReadonlyArray<RuleResult>
  readonly needs: ReadonlyArray<Need>
}

export interface PruningResult {
  readonly bench: "pruning"
  readonly seed: number
  readonly batchSize: number
  readonly groupSize: number
  readonly correlation: number
  readonly steps: number
  readonly pruneEvery: number
  /** The most steps of a decision. */
  readonly decisionSteps: number
  readonly worlds: ReadonlyArray<WorldResult>
}

/** The result as a Markdown page. */
export const markdown = (result: PruningResult): string =>
  [
    "# Pruning rules with constant true rewards",
    "",
    `${result.worlds[0]?.means.length ?? 0} instructions with known true rewards, groups of ${result.groupSize} with a correlation of ` +
      `${result.correlation}, a pruning every ${result.pruneEvery} steps. Intervals are exact 95 % intervals over simulations. ` +
      "In a real run the policy changes, so these numbers do not apply to it.",
    ...result.worlds.flatMap((world) => section(result, world)),
    ""
  ].join("\n")

const section = (
  { batchSize, decisionSteps, steps }: PruningResult,
  { description, means, needs, rules }: WorldResult
) => [
  "",
  `## ${description}`,
  "",
  `True rewards: ${means.join(", ")}.`,
  "",
  `At an equal budget, ${steps} steps of ${batchSize} questions:`,
  "",
  ...markdownTable([
    ["rule", "simulations", "lost the best", "95 % interval", "left, median", "I* is the best", "95 % interval"],
    ...rules.map(({ found, left, lost, rule }) => [
      rule,
      count(lost.n),
      percent(lost.share),
      interval(lost),
      String(left),
      percent(found.share),
      interval(found)
    ])
  ]),
  "",
  "Until one is left:",
  "",
  ...markdownTable([
    [
      "rule",
      "questions a step",
      "simulations",
      "steps, median",
      "decided",
      "left, median",
      "lost the best",
      "95 % interval"
    ],
    ...needs.map(({ batchSize, decided, delta, left, lost, medianSteps }) => [
      `confident, δ = ${delta}`,
      count(batchSize),
      count(lost.n),
      medianSteps === null ? `not decided within ${decisionSteps} steps` : String(medianSteps),
      percent(decided.share),
      String(left),
      percent(lost.share),
      interval(lost)
    ])
  ])
]
