import type { Plan } from "@inspo/analysis"
import type { RunConfig } from "@inspo/config"
import { Text, count, percent, plural } from "@inspo/report"
import type { Check } from "../preflight/Check.ts"
import type { PolicyPlan } from "./PolicyPlan.ts"

export const planLines = (
  config: RunConfig,
  forecast: Plan.Forecast,
  policy: PolicyPlan | null,
  checks: ReadonlyArray<Check>,
  columns: number
): ReadonlyArray<string> => {
  const { bounds, evolutions, prunes, rollouts } = forecast
  return [
    ...Text.wrap(
      `${plural(forecast.steps, "step")} of ${config.train.batchSize} questions × ${config.rollout.groupSize} rollouts, ` +
        plural(config.population.size, "instruction"),
      columns
    ),
    "",
    ...strip(forecast.population, config.population.size, columns),
    ...entry(
      "prunes",
      prunes.map(({ from, step, to }) => `${step} (${from}→${to})`),
      columns
    ),
    ...entry(
      "evolutions",
      evolutions.map(({ step }) => String(step)),
      columns
    ),
    "",
    ...Text.table([
      ["", "at least", "expected", "at most"],
      ["training rollouts", ...same(rollouts.train)],
      ["verification rollouts", ...row(bounds.verification)],
      ["evaluation rollouts", ...same(rollouts.evaluation)],
      ["proposer calls", ...row(bounds.proposerCalls)],
      ...(policy === null ? [["tokens", "", "", count(forecast.maximumTokens)]] : policyRows(policy))
    ]),
    "",
    ...Text.wrap(
      "At least: no evolution finds failures to learn from. Expected: every candidate passes. At most: none does, and nothing " +
        "is ever rewarded; tokens if every rollout uses up its limits. Evaluation assumes that the best instruction in the end is " +
        "not the seed. The static baseline, unless it is skipped, trains on the same number of rollouts.",
      columns
    ),
    "",
    ...Text.wrap(
      `Values are known to ± ${percent(forecast.valueHalfWidth)} (95 %) after ${config.selection.window} steps of ` +
        `${config.population.size} instructions that share the batch, if a group's mean varies as much as it can (1/4).`,
      columns
    ),
    ...(checks.length === 0
      ? []
      : [
          "",
          "Checked:",
          ...checks.flatMap(({ detail, part, status }) => Text.paragraph(`${part} ${status}: ${detail}`, "  ", columns))
        ]),
    ...forecast.warnings.flatMap((warning) => ["", ...Text.wrap(`Warning: ${warning}`, columns)])
  ]
}

const policyRows = ({ calls, model, usd }: PolicyPlan): ReadonlyArray<ReadonlyArray<string>> => [
  ["policy calls", count(calls.min), "", count(calls.max)],
  usd === null
    ? [`US dollars for ${model}`, "", "", "price not known (budget.prices)"]
    : [`US dollars for ${model}`, usd.min.toFixed(2), "", usd.max.toFixed(2)]
]

const levels = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

/** The population over time, one bar for so many steps that a line holds them all. */
const strip = (population: ReadonlyArray<number>, size: number, columns: number): ReadonlyArray<string> => {
  const stepsPerBar = Math.ceil(population.length / Math.max(1, columns - indent.length))
  const bars = Array.from({ length: Math.ceil(population.length / stepsPerBar) }, (_, bar) => {
    const largest = Math.max(...population.slice(bar * stepsPerBar, (bar + 1) * stepsPerBar))
    return levels[Math.max(0, Math.ceil((levels.length * largest) / size) - 1)] ?? ""
  })
  return [
    `${"population".padEnd(indent.length)}${bars.join("")}`,
    `${indent}one bar: ${stepsPerBar} ${stepsPerBar === 1 ? "step" : "steps"}; full height: ${size} instructions`
  ]
}

const indent = " ".repeat(14)

const entry = (name: string, steps: ReadonlyArray<string>, columns: number): ReadonlyArray<string> => {
  const [first = "", ...rest] = Text.paragraph(
    steps.length === 0 ? "none" : `${steps.length}, after step ${steps.join(", ")}`,
    indent,
    columns
  )
  return [name.padEnd(indent.length) + first.slice(indent.length), ...rest]
}

const row = ({ expected, max, min }: Plan.Forecast["bounds"]["verification"]) => [
  count(min),
  count(expected),
  count(max)
]

const same = (exact: number) => row({ min: exact, expected: exact, max: exact })
