import { type Spread, spread } from "@inspo/statistics/Spread"
import { points } from "../Format.ts"
import type { Answer } from "./Records.ts"
import type { Task } from "./Tasks.ts"

/** The result of one task. */
export interface TaskResult {
  readonly task: Task["name"]
  readonly asks: string
  readonly instructions: ReadonlyArray<string>
  readonly spread: Spread
  /** Whether its instructions differ beyond noise: the permutation test at 1 %. */
  readonly passes: boolean
  readonly promptTokens: number
  readonly responseTokens: number
}

/** The result of a task from all its answers: each question with each instruction. */
export const taskResult = (
  { asks, instructions, name }: Pick<Task, "asks" | "name"> & { readonly instructions: ReadonlyArray<string> },
  answers: ReadonlyArray<Answer>,
  seed: number
): TaskResult => {
  const byQuestion = [...Map.groupBy(answers, ({ question }) => question).values()]
  const rows = byQuestion.map((row) =>
    row.toSorted((a, b) => a.instruction - b.instruction).map(({ reward }) => reward)
  )
  const found = spread(rows, { permutations: 10_000, seed })
  const total = (of: (answer: Answer) => number) => answers.reduce((sum, answer) => sum + of(answer), 0)
  return {
    task: name,
    asks,
    instructions,
    spread: found,
    passes: found.p < 0.01,
    promptTokens: total(({ promptTokens }) => promptTokens),
    responseTokens: total(({ responseTokens }) => responseTokens)
  }
}

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
    ...tasks.flatMap(({ asks, instructions, promptTokens, responseTokens, task }) => [
      `**${task}**: ${asks}; ${promptTokens} prompt tokens, ${responseTokens} tokens of responses`,
      "",
      ...instructions.map((text, index) => `${index + 1}. \`${text}\``),
      ""
    ])
  ].join("\n")

/** A standard deviation in points; 0 for a negative estimate of the variance. */
const deviation = (variance: number): string => points(Math.sqrt(Math.max(0, variance)))
