import { Exact, Spread } from "@inspo/statistics"
import { points } from "../Format.ts"
import type { Answer } from "./Records.ts"
import type { Task } from "./Tasks.ts"

/** The result of one task. */
export interface TaskResult {
  readonly task: Task["name"]
  readonly asks: string
  readonly instructions: ReadonlyArray<string>
  readonly spread: Spread.Spread
  /** Of a rare task: how many answers of each instruction earned the reward. */
  readonly shares?: ReadonlyArray<Exact.Proportion>
  /**
   * Whether its instructions differ beyond noise: the permutation test at 1 %. For a rare task also, whether training can hardly
   * start under the plain instruction, but under another.
   */
  readonly passes: boolean
  readonly promptTokens: number
  readonly responseTokens: number
}

/** For a rare task, the largest share and upper end of its interval under the plain instruction, and the least under the best. */
export const rareBar = { plain: 0.0005, plainAtMost: 0.002, best: 0.03 }

/**
 * The result of a task from all its answers: each question with each instruction. Under the plain instruction of a rare task there
 * are answers to more questions.
 */
export const taskResult = (
  {
    asks,
    instructions,
    isRare,
    name
  }: Pick<Task, "asks" | "name" | "isRare"> & { readonly instructions: ReadonlyArray<string> },
  answers: ReadonlyArray<Answer>,
  seed: number
): TaskResult => {
  const byQuestion = [...Map.groupBy(answers, ({ question }) => question).values()]
  const rows = byQuestion
    .filter((row) => row.length === instructions.length)
    .map((row) => row.toSorted((a, b) => a.instruction - b.instruction).map(({ reward }) => reward))
  const found = Spread.spread(rows, { permutations: 10_000, seed })
  const total = (of: (answer: Answer) => number) => answers.reduce((sum, answer) => sum + of(answer), 0)
  const differs = found.p < 0.01
  const shares = isRare === true ? instructions.map((_, at) => shareOf(answers, at)) : undefined
  return {
    task: name,
    asks,
    instructions,
    spread: found,
    ...(shares === undefined ? { passes: differs } : { shares, passes: differs && isStartedByOthers(shares) }),
    promptTokens: total(({ promptTokens }) => promptTokens),
    responseTokens: total(({ responseTokens }) => responseTokens)
  }
}

const shareOf = (answers: ReadonlyArray<Answer>, instruction: number): Exact.Proportion => {
  const own = answers.filter((answer) => answer.instruction === instruction)
  return Exact.proportion(own.filter(({ reward }) => reward === 1).length, own.length)
}

const isStartedByOthers = ([plain, ...others]: ReadonlyArray<Exact.Proportion>): boolean =>
  plain !== undefined &&
  plain.share <= rareBar.plain &&
  plain.ci95[1] <= rareBar.plainAtMost &&
  others.some(({ share }) => share >= rareBar.best)

/** The result of a gate, and how it was made. */
export interface GateResult {
  readonly gate: string
  readonly command: string
  readonly code: string
  readonly model: string
  readonly seed: number
  readonly tasks: ReadonlyArray<TaskResult>
}

/** The result as text. */
export const markdown = ({ code, command, model, seed, tasks }: GateResult): string =>
  [
    "# Do instructions differ at all?",
    "",
    `\`${command}\` · ${model} · seed ${seed} · code ${code}`,
    "",
    "Rewards in points. *Between* is the standard deviation of the instructions' true means, *noise* the random",
    "variation of the mean of one; p is of a permutation test within questions. A task passes where p is below 0.01.",
    "",
    "| task | questions | means of the instructions | between | 95 % interval | noise | p | passes |",
    "| --- | ---: | --- | ---: | --- | ---: | ---: | --- |",
    ...tasks.map(({ passes, spread, task }) =>
      [
        `| ${task}`,
        spread.n,
        spread.means.map(points).join(" · "),
        deviation(spread.between),
        spread.ci95 === null ? "-" : `[${deviation(spread.ci95[0])}, ${deviation(spread.ci95[1])}]`,
        deviation(spread.noise),
        spread.p.toPrecision(2),
        `${passes ? "yes" : "no"} |`
      ].join(" | ")
    ),
    "",
    ...tasks.flatMap(({ asks, instructions, promptTokens, responseTokens, shares, task }) => [
      `**${task}**: ${asks}; ${promptTokens} prompt tokens, ${responseTokens} tokens of responses`,
      "",
      ...(shares === undefined
        ? instructions.map((text, index) => `${index + 1}. \`${text}\``)
        : [
            `Rewarded answers, with exact 95 % intervals. This task passes if also the first instruction earns at most ${percent(rareBar.plain)} ` +
              `(upper end at most ${percent(rareBar.plainAtMost)}) and another at least ${percent(rareBar.best)}.`,
            "",
            "| instruction | rewarded | share | 95 % interval |",
            "| --- | ---: | ---: | ---: |",
            ...shares.map(
              ({ ci95, n, share, successes }, index) =>
                `| ${instructions[index] ?? ""} | ${successes} of ${n} | ${percent(share)} | ${percent(ci95[0])} to ${percent(ci95[1])} |`
            )
          ]),
      ""
    ])
  ].join("\n")

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`

/** A standard deviation in points; 0 for a negative estimate of the variance. */
const deviation = (variance: number): string => points(Math.sqrt(Math.max(0, variance)))
