import { Collapse, Degradation, type RunState, Strategies } from "@inspo/coevolution"
import {
  Markdown as MarkdownText,
  Text,
  count,
  duration,
  gain,
  inPoints,
  labels,
  names,
  percent,
  plural
} from "@inspo/report"
import { MarkdownText as DomainMarkdownText, Strategy } from "@inspo/domain"
import { measure } from "@inspo/reward"
import { type RunConfig, isEmbedded } from "@inspo/config"
import { identity } from "effect"
import { stringify } from "yaml"
import { change } from "./Change.ts"
import { type Cell, cell, type Summary } from "./Summary.ts"

/** The content of the final report. `program` is how the program is called. */
export interface RunReport {
  readonly summary: Summary
  readonly config: RunConfig
  readonly instructions: RunState.RunState["instructions"]
  readonly program: string
}

export const text = (report: RunReport, columns: number): ReadonlyArray<string> => {
  const { summary } = report
  const { bestInstruction, seedInstruction } = summary
  const spaced = (paragraphs: ReadonlyArray<string>) => paragraphs.flatMap((one) => ["", ...Text.wrap(one, columns)])
  return [
    "",
    ...sideBySide(
      [`Seed instruction (${seedInstruction.id})`, seedInstruction.text],
      [`Best instruction (${bestInstruction.id}, generation ${bestInstruction.generation})`, bestInstruction.text],
      columns
    ),
    ...spaced(degraded(summary.degradations)),
    "",
    ...changes(report, identity).flatMap((line) => Text.wrap(line, columns)),
    ...(summary.evaluation.length === 0 ? [] : ["", resultTitle(summary), ...Text.table(resultRows(report))]),
    ...spaced(notes(report)),
    ...spaced(ownStrategies(report.config, summary.strategies)),
    ...spaced([`${budget(summary)} in ${duration(summary.wallSeconds)}.`]),
    "",
    `Everything is in ${summary.runDir}:`,
    ...files.map(([name, content]) => `  ${name.padEnd(24)}${content}`),
    "",
    "Next:",
    ...nextCommands(report).map((command) => `  ${command}`)
  ]
}

/** Sections that are made from the events of the run, as Markdown. */
export interface Sections {
  readonly head: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
  readonly best: ReadonlyArray<string>
  readonly compared: ReadonlyArray<string>
  readonly progress: ReadonlyArray<string>
  readonly lineage: ReadonlyArray<string>
}

/** The report as a Markdown page: the result, and below it, folded, how it came about and the settings that reproduce it. */
export const markdown = (report: RunReport, sections: Sections): string => {
  const { config, instructions, program, summary } = report
  const { runDir } = summary
  const { folded, table } = MarkdownText
  const spaced = (paragraphs: ReadonlyArray<string>) => paragraphs.flatMap((one) => [one, ""])
  const titled = (title: string, lines: ReadonlyArray<string>) =>
    lines.length === 0 ? [] : [`## ${title}`, "", ...lines, ""]
  const label = labels(names(instructions))
  return [
    ...sections.head,
    "",
    ...spaced(degraded(summary.degradations).map(DomainMarkdownText.inline)),
    ...titled("What got better, and what got worse", sections.changed),
    ...titled(`Best instruction: ${DomainMarkdownText.inline(label(summary.bestInstruction.id))}`, sections.best),
    ...spaced(changes(report, DomainMarkdownText.inline)),
    ...titled(resultTitle(summary), summary.evaluation.length === 0 ? [] : table(resultRows(report))),
    ...spaced(notes(report)),
    `${budget(summary)}. To reproduce it:`,
    "",
    ...DomainMarkdownText.fenced("", [`${program} run ${runDir}/config.json --out ${runDir}-again`]),
    "",
    ...folded("From the seed to the best instruction", sections.lineage),
    ...folded("How the instructions compare", sections.compared),
    ...folded("Progress by step", sections.progress),
    ...folded(
      `All ${plural(instructions.length, "instruction")}`,
      table([
        ["id", "born at step", "generation", "parent", "text"],
        ...instructions.map((one) => [
          one.id,
          `${one.bornAt}`,
          `${one.generation}`,
          one.parent ?? "",
          DomainMarkdownText.inline(one.text)
        ])
      ])
    ),
    ...folded("Strategies and settings", [
      ...table([
        ["part", "decided by"],
        ...Object.entries(summary.strategies).map(([part, strategy]) => [
          part,
          DomainMarkdownText.inline(Strategy.describe(strategy))
        ])
      ]),
      "",
      ...spaced(ownStrategies(config, summary.strategies).map(DomainMarkdownText.inline)),
      ...DomainMarkdownText.fenced("yaml", stringify(config).trimEnd().split("\n"))
    ])
  ].join("\n")
}

/** The strategies that decided in place of what the settings name. */
export const ownStrategies = (config: RunConfig, strategies: Summary["strategies"] | null): ReadonlyArray<string> =>
  Strategies.foreign(config, strategies).map(
    ({ identity, part }) =>
      `Decided by a strategy of its own: ${Strategies.nouns[part]} is ${Strategy.describe(identity)}, not what the settings name.`
  )

/** What each file of a run directory holds. */
export const files: ReadonlyArray<readonly [name: string, content: string]> = [
  ["report.html", "this report with figures, as one file to send"],
  ["report.md", "this report with all settings"],
  ["best_instruction.txt", "the instruction to use from now on"],
  ["candidates.json", "every instruction that was proposed, and its fate"],
  ["metrics.jsonl", "rewards, values and losses by step"],
  ["traces.jsonl", "what the policy wrote, by trajectory"],
  ["checkpoints/", "the policy before and after training"],
  ["journal.sqlite", "every event; the other files are derived from it"]
]

/** What the best instruction adds and removes, written by `shown`, and what that does. */
const changes = (report: RunReport, shown: (text: string) => string): ReadonlyArray<string> => {
  const { bestInstruction, seedInstruction } = report.summary
  const named = labels(names(report.instructions))
  const label = (id: string) => shown(named(id))
  if (seedInstruction.id === bestInstruction.id) return [nothingLearned(report.summary, label)]
  const { added, removed } = change(seedInstruction.text, bestInstruction.text)
  return [
    ...evidence(report.summary, label),
    ...(added.length === 0 ? [] : [`Added: ${shown(added.join(" "))}`]),
    ...(removed.length === 0 ? [] : [`Removed: ${shown(removed.join(" "))}`]),
    ...effects(report)
  ]
}

const nothingLearned = ({ unproven }: Pick<Summary, "unproven">, label: (id: string) => string): string =>
  unproven === null
    ? "Nothing was learned: the seed instruction is still the best one."
    : `Nothing was learned: ${label(unproven)} ended with the highest value, ${notShown}. Use the seed instruction.`

/** Why an instruction is unproven. */
const notShown = "but its difference to the seed within the same questions has no interval above 0"

const evidence = (
  { evidence, unproven }: Pick<Summary, "evidence" | "unproven">,
  label: (id: string) => string
): ReadonlyArray<string> => {
  if (unproven !== null)
    return [
      `Warning: nothing was learned that could be shown. ${label(unproven)} has the highest value, ${notShown}; ` +
        "selection.instruction: proven keeps the seed in such a case."
    ]
  if (evidence === null) return []
  const { difference, instruction, lower, rival, step, upper } = evidence
  return [
    `Evidence: within the same questions ${label(instruction)} is ${inPoints(difference, [lower, upper])} better than ${label(rival)} ` +
      `(step ${step}).`
  ]
}

/** What training changes under the seed, and what the best instruction changes before and after it. */
const effects = (report: RunReport): ReadonlyArray<string> => {
  const found = (policy: Cell["policy"], instruction: Cell["instruction"]) => cell(report.summary, policy, instruction)
  const [seed, trained] = [found("before", "seed"), found("after", "seed")]
  return [
    ...effect("training, with the seed instruction", report, seed, trained),
    ...effect("the best instruction, before training", report, seed, found("before", "best")),
    ...effect("the best instruction, after training", report, trained, found("after", "best"))
  ]
}

const effect = (
  cause: string,
  { config }: RunReport,
  from: Cell | undefined,
  to: Cell | undefined
): ReadonlyArray<string> =>
  from === undefined || to === undefined
    ? []
    : [
        `Effect of ${cause}: ${measure(config.reward)} ${percent(from.em)} → ${percent(to.em)} (${gain(estimated(to), estimated(from))}), ` +
          `tool calls ${from.toolCalls.toFixed(2)} → ${to.toolCalls.toFixed(2)} per question.`
      ]

const estimated = ({ ci95, em }: Cell) => ({ mean: em, ci95 })

const resultTitle = ({ evaluation }: Summary): string => `Held-out questions (n = ${evaluation[0]?.n ?? 0})`

const budget = ({ rollouts, steps }: Summary): string =>
  `${plural(steps, "step")}, ${count(rollouts.train)} training, ${count(rollouts.verification)} verification and ` +
  `${count(rollouts.evaluation)} evaluation rollouts`

const resultRows = ({ config, summary }: RunReport): ReadonlyArray<ReadonlyArray<string>> => [
  ["policy, instruction", measure(config.reward), "95 % interval", "tool calls"],
  ...summary.evaluation.map((entry) => [
    `${entry.policy} training, ${entry.instruction}`,
    percent(entry.em),
    Text.interval(entry.ci95),
    entry.toolCalls.toFixed(2)
  ]),
  ...(summary.baseline === null
    ? []
    : [["static baseline, seed", percent(summary.baseline.em), Text.interval(summary.baseline.ci95), ""]])
]

const notes = ({ config, summary }: RunReport): ReadonlyArray<string> => {
  const { baseline } = summary
  return [
    ...training(summary),
    baseline !== null &&
      `Static baseline: the seed instruction alone, trained on ${plural(baseline.rollouts, "rollout")} where this run ` +
        `spent ${count(summary.rollouts.train + summary.rollouts.verification)} on training and verification; ${
          baseline.source === "run"
            ? "trained in this run (`inspo show` of its baseline/ has what it cost)."
            : "read from a results file of the same checkpoint, data, config and code."
        }`,
    summary.failed !== undefined && failures(summary.failed),
    isEmbedded(config) &&
      config.engine.model === null &&
      config.data.questions !== null &&
      summary.evaluation.every(({ em }) => em < 0.1) &&
      `Why ${measure(config.reward)} is near 0: the vocabulary of the embedded model is that of its fictional world, and it was ` +
        "trained on that world only. The run shows that retrieval, rewards, credit and evolution work on this data; for " +
        "results, choose a model of its language."
  ].filter((note) => note !== false && note !== null)
}

/** What failed without ending the run, a line for each part. */
export const degraded = (degradations: Summary["degradations"]): ReadonlyArray<string> =>
  degradations.map((fact) => `Degraded: ${Degradation.describe(fact)}`)

const failures = ({ evaluation, train, verification }: NonNullable<Summary["failed"]>): string =>
  `A tool or the reward failed ${count(train)} training, ${count(verification)} verification and ${count(evaluation)} ` +
  "evaluation rollouts. They are left out of training, credit and every mean; traces.jsonl holds them as failed."

/** How the training went and which policy it gave, where that is not simply the last one. */
const training = ({ checkpoint, collapse, steps, validation }: Summary) => [
  validation.length > 0 &&
    `Validation (n = ${validation[0]?.n ?? 0}): ` +
      `${validation.map(({ mean, step }) => `${percent(mean)} at step ${step}`).join(", ")}.`,
  collapse !== null &&
    `The training reward collapsed: its 10-step mean was ${percent(collapse.mean)} at step ${collapse.step}, below ` +
      `${100 * Collapse.share} % of the best, ${percent(collapse.best.mean)} at step ${collapse.best.step}.`,
  checkpoint.step !== steps &&
    `The policy after training is that of step ${checkpoint.step}, ` +
      (checkpoint.rule === "best" ? "the best on the validation questions." : "the last validated before the collapse.")
]

const nextCommands = ({ program, summary, config }: RunReport): ReadonlyArray<string> => [
  `${program} show ${summary.runDir}`,
  `${program} export ${summary.runDir} --out deployed`,
  `${program} run ${summary.runDir}/config.json --seed ${config.randomSeed + 1}`
]

const sideBySide = (
  [leftTitle, left]: readonly [string, string],
  [rightTitle, right]: readonly [string, string],
  columns: number
): ReadonlyArray<string> => {
  const width = Math.floor((columns - 3) / 2)
  const column = (title: string, body: string) => [
    ...Text.wrap(title, width),
    "─".repeat(width),
    ...Text.wrap(body, width)
  ]
  const lefts = column(leftTitle, left)
  const rights = column(rightTitle, right)
  return Array.from({ length: Math.max(lefts.length, rights.length) }, (_, index) =>
    `${(lefts[index] ?? "").padEnd(width)}   ${rights[index] ?? ""}`.trimEnd()
  )
}
