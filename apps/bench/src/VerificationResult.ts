import { count } from "@inspo/dashboard/Format"
import { table as markdownTable } from "@inspo/dashboard/report/MarkdownText"
import { interval, percent } from "./Format.ts"
import type { Estimate, Proportion } from "@inspo/statistics/Exact"

/** The result of one rule in one world. */
export interface RuleResult {
  readonly rule: string
  /** Trajectories per simulation. */
  readonly rollouts: Estimate | null
  /** Share of the rollouts of the first rule that were saved, on average. */
  readonly saved: number
  /** Wrong verdicts on candidates that are truly better or worse than the parent. */
  readonly wrong: Proportion | null
  /** Accepted candidates with the same true reward as the parent. */
  readonly clonesAccepted: Proportion | null
}

export interface WorldResult {
  readonly description: string
  /** Difference of each candidate to the parent, in expected reward. */
  readonly differences: ReadonlyArray<number>
  readonly rules: ReadonlyArray<RuleResult>
}

/** The rollouts that verification adds to a whole run, as planned. */
export interface Overhead {
  readonly preset: string
  readonly reuse: boolean
  /** Rollouts of training, and further ones of verification: expected and maximum. */
  readonly train: number
  readonly expected: number
  readonly most: number
}

export interface VerificationResult {
  readonly bench: "verification"
  readonly seed: number
  readonly simulations: number
  readonly parent: number
  readonly correlation: number
  readonly interimEvery: number
  readonly worlds: ReadonlyArray<WorldResult>
  readonly overheads: ReadonlyArray<Overhead>
}

/** The result as a Markdown page. */
export const markdown = (result: VerificationResult): string =>
  [
    "# Verification with constant true rewards",
    "",
    `A parent with the true reward ${result.parent}, rewards of 0 or 1, a correlation of ${result.correlation} between the arms on a ` +
      `question, ${count(result.simulations)} simulations, an interim analysis every ${result.interimEvery} questions. Intervals are 95 % ` +
      "intervals over simulations. In a real run the true rewards are not known, so these numbers do not apply to it.",
    ...result.worlds.flatMap(({ description, differences, rules }) => [
      "",
      `## ${description}`,
      "",
      `Differences to the parent: ${differences.map(signed).join(", ")}.`,
      "",
      ...markdownTable([
        ["rule", "rollouts", "saved", "wrong verdicts", "95 % interval", "clones accepted", "95 % interval"],
        ...rules.map(({ clonesAccepted, rollouts, rule, saved, wrong }) => [
          rule,
          rollouts === null ? "-" : count(rollouts.mean),
          percent(saved),
          ...cells(wrong),
          ...cells(clonesAccepted)
        ])
      ])
    ]),
    "",
    "## Rollouts that it adds to a run",
    "",
    ...markdownTable([
      ["preset", "verification.reuse", "training", "verification, expected", "share", "at most", "share"],
      ...result.overheads.map(({ expected, most, preset, reuse, train }) => [
        preset,
        String(reuse),
        count(train),
        count(expected),
        percent(expected / train),
        count(most),
        percent(most / train)
      ])
    ]),
    ""
  ].join("\n")

const cells = (proportion: Proportion | null): ReadonlyArray<string> =>
  proportion === null ? ["-", "-"] : [percent(proportion.share), interval(proportion)]

const signed = (value: number): string => (value > 0 ? `+${value}` : String(value))
