import type { RunState } from "@inspo/coevolution"
import { Markdown, count, duration } from "@inspo/report"
import { Group, MarkdownText } from "@inspo/domain"
import { Exact } from "@inspo/statistics"
import { Report, share } from "@inspo/dashboard"
import { type Arm, bestText, budget } from "./Arm.ts"
import * as Curves from "./Curves.ts"
import { interval, points } from "./Format.ts"
import * as Paired from "./Paired.ts"
import type { Dial, Study } from "./Study.ts"
import { type TakeOff, takeOffTable } from "./TakeOff.ts"

/** The result of one arm for one seed: its trained policy with its best instruction on the test questions. */
export interface SeedResult {
  readonly seed: number
  readonly em: number
  readonly ci95: readonly [number, number]
  readonly questions: number
  /** The score under the first instruction of the last stage; null if it was not evaluated. */
  readonly underFirst: number | null
  readonly toolCalls: number
  readonly steps: number
  readonly rollouts: number
  readonly tokens: number
  readonly instruction: string
  /** EM by data source: by the number of hops on the generated world. */
  readonly bySource: Readonly<Record<string, number>>
  readonly takeOff?: TakeOff
  readonly training?: Training
}

/** What a study measures of the training of a run. */
export interface Training {
  /** The wall time of all stages, in seconds. */
  readonly seconds: number
  /** The mean over the steps of each metric, by its name; without those that no step has. */
  readonly means: Readonly<Record<string, number>>
}

export interface ArmResult {
  readonly arm: string
  readonly description: string
  readonly em: Exact.Estimate
  readonly bySource: Readonly<Record<string, Exact.Estimate | null>>
  readonly seeds: ReadonlyArray<SeedResult>
}

export interface Comparison {
  readonly left: string
  readonly right: string
  /** EM of left minus EM of right, with the paired t-interval over seeds. */
  readonly difference: Exact.Estimate
}

/** The result of a study for a claim. */
export interface Claim extends Paired.Judged {
  readonly higher: string
  readonly lower: string
}

/** The scale of a study: a check that everything runs, the embedded engine, or the user's engine. */
export type Scale = "smoke" | "small" | "full"

/** How a result was made. */
export interface Provenance {
  readonly scale: Scale
  readonly commit: string
  /** Hash of the program's code. */
  readonly code: string
  readonly command: string
  readonly hardware: string
  /** The seconds of the command, without runs that already existed. */
  readonly seconds: number
}

export interface StudyResult extends Provenance {
  readonly bench: string
  readonly questions: number
  readonly arms: ReadonlyArray<ArmResult>
  readonly comparisons: ReadonlyArray<Comparison>
  readonly claims: ReadonlyArray<Claim>
}

/** The stages of an arm as one result: the evaluation of the last one, the cost of all of them. */
export const seedResult = (
  seed: number,
  stages: ReadonlyArray<RunState.RunState>,
  source?: string
): SeedResult | null => {
  const last = stages.at(-1)
  if (last === undefined || last.phase._tag !== "Finished") return null
  const { best } = last.phase
  const cell = last.evaluations.find(({ instruction, policy }) => policy === "after" && instruction === best)
  if (cell === undefined) return null
  const { ci95, mean: em, n } = share(countedOf(cell.groups, source))
  const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)
  return {
    seed,
    em,
    ci95,
    questions: n,
    underFirst: underFirst(stages, source),
    toolCalls: sum(cell.groups.map(({ toolCalls }) => sum(toolCalls) / toolCalls.length)) / cell.groups.length,
    steps: sum(stages.map(({ step }) => step)),
    rollouts: sum(stages.map(({ spent }) => budget(spent.rollouts))),
    tokens: sum(stages.map(({ spent }) => budget(spent.tokens))),
    instruction: bestText(last) ?? "",
    bySource: Object.fromEntries(
      [...Map.groupBy(cell.groups, ({ dataSource }) => dataSource)]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([source, groups]) => [source, sum(groups.map(Group.meanReward)) / groups.length])
    )
  }
}

/** The score of the trained policy under the first instruction of the last stage; null if it was not evaluated. */
export const underFirst = (stages: ReadonlyArray<RunState.RunState>, source?: string): number | null => {
  const last = stages.at(-1)
  const first = last?.instructions[0]?.id
  const cell = last?.evaluations.find(({ instruction, policy }) => policy === "after" && instruction === first)
  return cell === undefined ? null : share(countedOf(cell.groups, source)).mean
}

const countedOf = (groups: ReadonlyArray<Group.Group>, source: string | undefined): ReadonlyArray<Group.Group> =>
  source === undefined ? groups : groups.filter(({ dataSource }) => dataSource === source)

const armResult = ({ description, name }: Arm, seeds: ReadonlyArray<SeedResult>): ArmResult | null => {
  const em = Exact.estimate(seeds.map(({ em }) => em))
  if (em === null) return null
  const sources = new Set(seeds.flatMap(({ bySource }) => Object.keys(bySource)))
  return {
    arm: name,
    description,
    em,
    bySource: Object.fromEntries(
      [...sources].map((source) => [source, Exact.estimate(seeds.flatMap(({ bySource }) => bySource[source] ?? []))])
    ),
    seeds
  }
}

/** The result of a study from the results by arm, without arms that have none. */
export const studyResult = (
  study: Study,
  provenance: Provenance,
  results: ReadonlyArray<{ readonly arm: Arm; readonly seeds: ReadonlyArray<SeedResult> }>
): StudyResult => {
  const emOf = (name: string) =>
    new Map(results.find(({ arm }) => arm.name === name)?.seeds.map(({ em, seed }) => [seed, em]) ?? [])
  return {
    bench: study.name,
    ...provenance,
    questions: results.flatMap(({ seeds }) => seeds)[0]?.questions ?? 0,
    arms: results.flatMap(({ arm, seeds }) => armResult(arm, seeds) ?? []),
    comparisons: study.comparisons.flatMap(([left, right]) => {
      const difference = Paired.paired(emOf(left), emOf(right))
      return difference === null ? [] : [{ left, right, difference }]
    }),
    claims: claimsOf(study, emOf)
  }
}

/** Tests the claims on the arms that were run. */
const claimsOf = ({ claims = [] }: Study, emOf: (arm: string) => ReadonlyMap<number, number>): ReadonlyArray<Claim> => {
  const ran = claims.filter((sides) => sides.every((arm) => emOf(arm).size > 0))
  const judged = Paired.judge(ran.map(([higher, lower]) => [emOf(higher), emOf(lower)]))
  return ran.flatMap(([higher, lower], index) => {
    const found = judged[index] ?? null
    return found === null ? [] : [{ higher, lower, ...found }]
  })
}

const claimTable = (claims: ReadonlyArray<Claim>): ReadonlyArray<string> => [
  "Each claim with the difference in this study. With a probability of 95 %, all intervals contain their true differences.",
  "",
  ...Markdown.table([
    ["claim", "seeds", "EM points", "interval", "result"],
    ...claims.map(({ higher, interval: ci95, lower, mean, n, verdict }) => [
      `${higher} above ${lower}`,
      String(n),
      points(mean),
      interval({ ci95 }),
      verdict
    ])
  ])
]

/** Means over seeds of what a study measures of the training. */
const trainingTable = (
  measures: NonNullable<Study["measures"]>,
  arms: ReadonlyArray<ArmResult>
): ReadonlyArray<string> => {
  const cell = (values: ReadonlyArray<number>, digits: number): string => {
    const found = Exact.estimate(values)
    const bounds = found?.ci95?.map((bound) => bound.toFixed(digits)).join(", ")
    return found === null ? "–" : `${found.mean.toFixed(digits)}${bounds === undefined ? "" : ` [${bounds}]`}`
  }
  return Markdown.table([
    ["arm", "under the first instruction, %", ...measures.map(({ title }) => title), "seconds"],
    ...arms.map(({ arm, seeds }) => [
      arm,
      cell(
        seeds.flatMap(({ underFirst }) => (underFirst === null ? [] : [100 * underFirst])),
        1
      ),
      ...measures.map(({ digits, metric }) =>
        cell(
          seeds.flatMap(({ training }) => training?.means[metric] ?? []),
          digits
        )
      ),
      cell(
        seeds.flatMap(({ training }) => training?.seconds ?? []),
        0
      )
    ])
  ])
}

/** The name of its scores; on a task of the gate that task defines the reward. */
export const measureOf = ({ frozen, takesOff }: Study): string =>
  frozen === true || takesOff === true ? "Reward" : "EM"

const testBench =
  "A test bench: its model was pre-trained to react to exactly the clauses that the proposer writes, except in arms with another " +
  "description. The numbers show that the loop finds the useful clauses; they do not predict the gain of large models."

/** The training reward of each arm of a study of take-offs. */
export const rewardFigure = ({ arms }: Pick<StudyResult, "arms">): string =>
  Curves.figure(
    "Training reward",
    arms.map(({ arm, seeds }) => ({
      arm,
      courses: seeds.flatMap(({ takeOff }) => (takeOff === undefined ? [] : [takeOff.rewards]))
    }))
  )

/** The differences of a study against its dial, with their 95 % intervals. */
export const dialFigure = ({ lines, values }: Dial, { arms }: Pick<StudyResult, "arms">): string => {
  const emOf = (name: string) =>
    new Map(arms.find(({ arm }) => arm === name)?.seeds.map(({ em, seed }) => [seed, em]) ?? [])
  return Report.svg({
    title: "Difference in points",
    steps: values,
    curves: lines.map(({ label, pairs }, index) => {
      const found = pairs.map(([left, right]) => Paired.paired(emOf(left), emOf(right)))
      return {
        label,
        values: found.map((one) => (one === null ? null : 100 * one.mean)),
        band: found.map((one) => (one?.ci95 ? ([100 * one.ci95[0], 100 * one.ci95[1]] as const) : null)),
        tone: `c${index}`
      }
    })
  })
}

/** Every run of a study of take-offs. */
const runTable = (measured: string, arms: ReadonlyArray<ArmResult>): ReadonlyArray<string> =>
  Markdown.table([
    [
      "arm",
      "seed",
      "takes off at",
      measured,
      "95 % interval",
      "under the first instruction",
      "time",
      "SHA-256 of the weights",
      "instruction"
    ],
    ...arms.flatMap(({ arm, seeds }) =>
      seeds.flatMap(({ takeOff, ...run }) =>
        takeOff === undefined
          ? []
          : [
              [
                arm,
                String(run.seed),
                String(takeOff.step ?? "–"),
                points(run.em),
                interval(run),
                takeOff.underFirst === null ? "–" : points(takeOff.underFirst),
                duration(takeOff.seconds),
                takeOff.weights.slice(0, 16),
                MarkdownText.inline(run.instruction)
              ]
            ]
      )
    )
  ])

const takeOffs = (measured: string, arms: ReadonlyArray<ArmResult>): ReadonlyArray<string> => [
  "",
  "## Take-off",
  "",
  ...takeOffTable(
    arms.map(({ arm, seeds }) => ({
      arm,
      runs: new Map(seeds.flatMap(({ seed, takeOff }) => (takeOff === undefined ? [] : [[seed, takeOff]])))
    }))
  ),
  "",
  "## Runs",
  "",
  ...runTable(measured, arms)
]

/** The result as a Markdown page. */
export const markdown = (study: Study, result: StudyResult): string => {
  const sources = [...new Set(result.arms.flatMap(({ bySource }) => Object.keys(bySource)))].toSorted()
  const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
  const measured = measureOf(study)
  return [
    `# ${study.title}`,
    "",
    ...(study.frozen === true || study.takesOff === true ? [] : [testBench, ""]),
    `${measured} on ${count(result.questions)} held-out questions per seed; intervals are 95 % t-intervals over seeds.` +
      (result.scale === "smoke" ? " Smoke scale: too short for conclusions." : ""),
    ...study.notes.flatMap((note) => ["", note]),
    "",
    ...Markdown.table([
      ["arm", "seeds", measured, "95 % interval", "tool calls", "rollouts", "tokens", "steps"],
      ...result.arms.map(({ arm, em, seeds }) => [
        arm,
        String(em.n),
        points(em.mean),
        interval(em),
        mean(seeds.map(({ toolCalls }) => toolCalls)).toFixed(2),
        count(mean(seeds.map(({ rollouts }) => rollouts))),
        count(mean(seeds.map(({ tokens }) => tokens))),
        count(mean(seeds.map(({ steps }) => steps)))
      ])
    ]),
    ...(study.measures === undefined
      ? []
      : ["", "## Training, means over the steps", "", ...trainingTable(study.measures, result.arms)]),
    ...(study.takesOff === true ? takeOffs(measured, result.arms) : []),
    "",
    "## Differences, paired by seed",
    "",
    ...Markdown.table([
      ["difference", "seeds", `${measured} points`, "95 % interval"],
      ...result.comparisons.map(({ difference, left, right }) => [
        `${left} − ${right}`,
        String(difference.n),
        points(difference.mean),
        interval(difference)
      ])
    ]),
    "",
    ...(result.claims.length === 0 ? [] : ["## Claims, tested together", "", ...claimTable(result.claims), ""]),
    `## ${measured} by kind of question`,
    "",
    ...Markdown.table([
      ["arm", ...sources],
      ...result.arms.map(({ arm, bySource }) => [
        arm,
        ...sources.map((source) => {
          const found = bySource[source] ?? null
          return found === null ? "-" : points(found.mean)
        })
      ])
    ]),
    "",
    "## Arms",
    "",
    ...result.arms.map(({ arm, description }) => `- **${arm}**: ${description}`),
    "",
    "## Method",
    "",
    `- \`${result.command}\`, ${duration(result.seconds)}, without runs that already existed`,
    `- ${result.hardware}, commit ${result.commit}, code ${result.code.slice(0, 12)}`,
    ""
  ].join("\n")
}
