import { Trajectory } from "@inspo/domain"
import { Schema } from "effect"
import { Text, percent, points } from "@inspo/report"
import { Comparison, type Difference } from "./Comparison.ts"
import { type Cell, Results } from "./Results.ts"

/** Who answered: `runDir` is null for the shipped policy, `step` counts the updates of the policy. */
export const Answerer = Schema.Struct({
  runDir: Schema.NullOr(Schema.String),
  policy: Schema.Literals(["before", "after"]),
  step: Schema.Int,
  agent: Schema.String,
  instruction: Schema.String
})
export interface Answerer extends Schema.Schema.Type<typeof Answerer> {}

/**
 * What `inspo eval --json` prints, and a public contract: who answered and how well, and what it was compared with, if
 * anything. `comparison` is null where no question was answered by both.
 */
export const Report = Schema.Struct({
  ...Answerer.fields,
  randomSeed: Schema.Int,
  resamples: Schema.Int,
  ...Results.fields,
  against: Schema.NullOr(
    Schema.Struct({ ...Answerer.fields, ...Results.fields, comparison: Schema.NullOr(Comparison) })
  )
})
export interface Report extends Schema.Schema.Type<typeof Report> {}

export const encode = Schema.encodeSync(Report)

export const text = (report: Report, columns: number): ReadonlyArray<string> => {
  const { against } = report
  return [
    ...answered(report, columns),
    ...(against === null
      ? []
      : ["", "against", "", ...answered(against, columns), "", ...compared(against.comparison, columns)])
  ]
}

const answered = (one: Answerer & Results, columns: number): ReadonlyArray<string> => [
  ...Text.wrap(
    `${one.runDir ?? "the shipped policy"}, ${one.policy} training (step ${one.step}), agent ${one.agent}`,
    columns
  ),
  ...Text.paragraph(one.instruction, "  ", columns),
  "",
  ...Text.table([
    ["source", "n", "EM", "95 % interval", "F1", "95 % interval", "tool calls"],
    ...one.bySource.map((cell) => row(cell.source, cell)),
    ...(one.bySource.length === 1 ? [] : [row("all questions", one)]),
    ...(one.macro.sources < 2
      ? []
      : [
          [
            "mean of sources",
            "",
            percent(one.macro.em),
            Text.interval(one.macro.ci95),
            percent(one.macro.f1),
            Text.interval(one.macro.f1Ci95)
          ]
        ])
  ]),
  "",
  ...Text.wrap(
    `${Text.decimal(one.turns)} turns and ${Text.decimal(one.responseTokens, 1)} response tokens per question; ended as ` +
      Trajectory.FinishReason.literals
        .filter((reason) => one.finishReasons[reason] > 0)
        .map((reason) => `${reason} ${one.finishReasons[reason]}`)
        .join(", ") +
      (one.reward === one.em ? "" : `; mean reward ${Text.decimal(one.reward)}`) +
      (one.failed === 0 ? "." : ". Failed ones are left out of all means."),
    columns
  )
]

const row = (name: string, cell: Cell): ReadonlyArray<string> => [
  name,
  String(cell.n),
  percent(cell.em),
  Text.interval(cell.ci95),
  percent(cell.f1),
  Text.interval(cell.f1Ci95),
  Text.decimal(cell.toolCalls)
]

const compared = (comparison: Comparison | null, columns: number): ReadonlyArray<string> =>
  comparison === null
    ? ["No question was answered by both."]
    : [
        `first minus second in points, on the same ${comparison.n} questions`,
        "",
        ...Text.table([
          ["", "difference", "95 % interval", "mean of sources", "95 % interval", "better", "worse", "p"],
          difference("EM", comparison.em),
          difference("F1", comparison.f1)
        ]),
        "",
        ...Text.wrap(
          "Intervals are paired bootstraps over questions; p is the exact sign test of better against worse " +
            "(for EM: McNemar's).",
          columns
        )
      ]

const difference = (name: string, one: Difference): ReadonlyArray<string> => [
  name,
  points(one.mean),
  range(one.ci95),
  points(one.macro),
  range(one.macroCi95),
  String(one.better),
  String(one.worse),
  one.p < 0.001 ? "<0.001" : one.p.toFixed(3)
]

const range = (bounds: Difference["ci95"]): string =>
  bounds === null ? "–" : `[${points(bounds[0])}, ${points(bounds[1])}]`
