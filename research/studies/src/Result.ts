import type { RunState } from "@inspo/coevolution"
import { count, duration } from "@inspo/report"
import { Group, MarkdownText } from "@inspo/domain"
import { Exact } from "@inspo/statistics"
import { Report, share } from "@inspo/dashboard"
import { Number } from "effect"
import { type Arm, bestText, spentIn } from "./Arm.ts"
import * as Curves from "./Curves.ts"
import { estimated, interval, orDash, points, table } from "./Format.ts"
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
  const evaluated = (id: string | undefined) =>
    last.evaluations.find(({ instruction, policy }) => policy === "after" && instruction === id)?.groups
  const counted = (groups: ReadonlyArray<Group.Group>) =>
    share(source === undefined ? groups : groups.filter(({ dataSource }) => dataSource === source))
  const groups = evaluated(last.phase.best)
  const underFirst = evaluated(last.instructions[0]?.id)
  if (groups === undefined) return null
  const { ci95, mean: em, n } = counted(groups)
  return {
    seed,
    em,
    ci95,
    questions: n,
    underFirst: underFirst === undefined ? null : counted(underFirst).mean,
    toolCalls: Number.sumAll(groups.map(({ toolCalls }) => meanOf(toolCalls))) / groups.length,
    steps: Number.sumAll(stages.map(({ step }) => step)),
    rollouts: spentIn(stages, "rollouts"),
    tokens: spentIn(stages, "tokens"),
    instruction: bestText(last) ?? "",
    bySource: Object.fromEntries(
      [...Map.groupBy(groups, ({ dataSource }) => dataSource)]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([source, own]) => [source, meanOf(own.map(Group.meanReward))])
    )
  }
}

const meanOf = (values: ReadonlyArray<number>): number => Number.sumAll(values) / values.length

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
  const arms = results.flatMap(({ arm, seeds }) => armResult(arm, seeds) ?? [])
  return {
    bench: study.name,
    ...provenance,
    questions: results.flatMap(({ seeds }) => seeds)[0]?.questions ?? 0,
    arms,
    comparisons: study.comparisons.flatMap(([left, right]) => {
      const difference = Paired.paired(emOf(arms, left), emOf(arms, right))
      return difference === null ? [] : [{ left, right, difference }]
    }),
    claims: claimsOf(study, arms)
  }
}

/** The scores of an arm by seed. */
const emOf = (arms: ReadonlyArray<ArmResult>, name: string): ReadonlyMap<number, number> =>
  new Map(arms.find(({ arm }) => arm === name)?.seeds.map(({ em, seed }) => [seed, em]) ?? [])

/** Tests the claims on the arms that were run. */
const claimsOf = ({ claims = [] }: Study, arms: ReadonlyArray<ArmResult>): ReadonlyArray<Claim> => {
  const ran = claims.filter((sides) => sides.every((name) => arms.some(({ arm }) => arm === name)))
  const judged = Paired.judge(ran.map(([higher, lower]) => [emOf(arms, higher), emOf(arms, lower)]))
  return ran.flatMap(([higher, lower], index) => {
    const found = judged[index] ?? null
    return found === null ? [] : [{ higher, lower, ...found }]
  })
}

/** The name of its scores; on a task of its own that task defines the reward. */
export const measureOf = ({ frozen, takesOff }: Study): string =>
  frozen === true || takesOff === true ? "Reward" : "EM"

const testBench =
  "A test bench: its model was pre-trained to react to exactly the clauses that the proposer writes, except in arms with another " +
  "description. The numbers show that the loop finds the useful clauses; they do not predict the gain of large models."

/** The training reward of each arm of a study of take-offs. */
export const rewardFigure = ({ arms }: Pick<StudyResult, "arms">): string =>
  Curves.figure(
    "Training reward",
    arms.map(({ arm, seeds }) => ({ arm, courses: seeds.flatMap(({ takeOff }) => (takeOff ? [takeOff.rewards] : [])) }))
  )

/** The differences of a study against its dial, with their 95 % intervals. */
export const dialFigure = ({ lines, values }: Dial, { arms }: Pick<StudyResult, "arms">): string =>
  Report.svg({
    title: "Difference in points",
    steps: values,
    curves: lines.map(({ label, pairs }, index) => {
      const found = pairs.map(([left, right]) => Paired.paired(emOf(arms, left), emOf(arms, right)))
      return {
        label,
        values: found.map((one) => (one === null ? null : 100 * one.mean)),
        band: found.map((one) => (one?.ci95 ? ([100 * one.ci95[0], 100 * one.ci95[1]] as const) : null)),
        tone: `c${index}`
      }
    })
  })

/** When the arms take off, and every run. */
const takeOffs = (measured: string, arms: ReadonlyArray<ArmResult>): ReadonlyArray<string> => {
  const runs = arms.flatMap(({ arm, seeds }) =>
    seeds.flatMap(({ takeOff, ...run }) => (takeOff === undefined ? [] : [{ arm, takeOff, ...run }]))
  )
  return [
    "",
    "## Take-off",
    "",
    ...takeOffTable(
      arms.map(({ arm }) => ({
        arm,
        runs: new Map(runs.flatMap((run) => (run.arm === arm ? [[run.seed, run.takeOff]] : [])))
      }))
    ),
    "",
    "## Runs",
    "",
    ...table(runs, [
      ["arm", ({ arm }) => arm],
      ["seed", ({ seed }) => String(seed)],
      ["takes off at", ({ takeOff }) => orDash(takeOff.step, String)],
      [measured, ({ em }) => points(em)],
      ["95 % interval", interval],
      ["under the first instruction", ({ takeOff }) => orDash(takeOff.underFirst, points)],
      ["time", ({ takeOff }) => duration(takeOff.seconds)],
      ["SHA-256 of the weights", ({ takeOff }) => takeOff.weights.slice(0, 16)],
      ["instruction", ({ instruction }) => MarkdownText.inline(instruction)]
    ])
  ]
}

/** Means over seeds of what a study measures of the training. */
const trainings = (measures: NonNullable<Study["measures"]>, arms: ReadonlyArray<ArmResult>): ReadonlyArray<string> => [
  "",
  "## Training, means over the steps",
  "",
  ...table(arms, [
    ["arm", ({ arm }) => arm],
    [
      "under the first instruction, %",
      ({ seeds }) =>
        estimated(
          seeds.flatMap((one) => one.underFirst ?? []),
          points
        )
    ],
    ...measures.map(
      ({ digits, metric, title }) =>
        [
          title,
          ({ seeds }: ArmResult) =>
            estimated(
              seeds.flatMap(({ training }) => training?.means[metric] ?? []),
              (value) => value.toFixed(digits)
            )
        ] as const
    ),
    [
      "seconds",
      ({ seeds }) =>
        estimated(
          seeds.flatMap(({ training }) => training?.seconds ?? []),
          (value) => value.toFixed(0)
        )
    ]
  ])
]

/** The result as a Markdown page. */
export const markdown = (study: Study, result: StudyResult): string => {
  const sources = [...new Set(result.arms.flatMap(({ bySource }) => Object.keys(bySource)))].toSorted()
  const measured = measureOf(study)
  const meanCount =
    (of: (one: SeedResult) => number) =>
    ({ seeds }: ArmResult) =>
      count(meanOf(seeds.map(of)))
  return [
    `# ${study.title}`,
    "",
    ...(measured === "Reward" ? [] : [testBench, ""]),
    `${measured} on ${count(result.questions)} held-out questions per seed; intervals are 95 % t-intervals over seeds.` +
      (result.scale === "smoke" ? " Smoke scale: too short for conclusions." : ""),
    ...study.notes.flatMap((note) => ["", note]),
    "",
    ...table(result.arms, [
      ["arm", ({ arm }) => arm],
      ["seeds", ({ em }) => String(em.n)],
      [measured, ({ em }) => points(em.mean)],
      ["95 % interval", ({ em }) => interval(em)],
      ["tool calls", ({ seeds }) => meanOf(seeds.map(({ toolCalls }) => toolCalls)).toFixed(2)],
      ["rollouts", meanCount(({ rollouts }) => rollouts)],
      ["tokens", meanCount(({ tokens }) => tokens)],
      ["steps", meanCount(({ steps }) => steps)]
    ]),
    ...(study.measures === undefined ? [] : trainings(study.measures, result.arms)),
    ...(study.takesOff === true ? takeOffs(measured, result.arms) : []),
    "",
    "## Differences, paired by seed",
    "",
    ...table(result.comparisons, [
      ["difference", ({ left, right }) => `${left} − ${right}`],
      ["seeds", ({ difference }) => String(difference.n)],
      [`${measured} points`, ({ difference }) => points(difference.mean)],
      ["95 % interval", ({ difference }) => interval(difference)]
    ]),
    "",
    ...(result.claims.length === 0 ? [] : claimed(result.claims)),
    `## ${measured} by kind of question`,
    "",
    ...table(result.arms, [
      ["arm", ({ arm }) => arm],
      ...sources.map((source) => {
        const cell = ({ bySource }: ArmResult) => (bySource[source] ? points(bySource[source].mean) : "-")
        return [source, cell] as const
      })
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

const claimed = (claims: ReadonlyArray<Claim>): ReadonlyArray<string> => [
  "## Claims, tested together",
  "",
  "Each claim with the difference in this study. With a probability of 95 %, all intervals contain their true differences.",
  "",
  ...table(claims, [
    ["claim", ({ higher, lower }) => `${higher} above ${lower}`],
    ["seeds", ({ n }) => String(n)],
    ["EM points", ({ mean }) => points(mean)],
    ["interval", (one) => interval({ ci95: one.interval })],
    ["result", ({ verdict }) => verdict]
  ]),
  ""
]
