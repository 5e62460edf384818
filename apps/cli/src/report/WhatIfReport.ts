import type { WhatIf } from "@inspo/analysis"
import { Equal, Result } from "effect"
import { Text, percent } from "@inspo/report"

/** Settings by dotted name, and the answer of the log. */
export interface Asked {
  readonly settings: Readonly<Record<string, unknown>>
  readonly answer: Result.Result<WhatIf.Answer, WhatIf.TooFewGroups>
}

export const answerLines = (
  settings: Asked["settings"],
  { best, decisions, reward }: WhatIf.Answer,
  columns: number
): ReadonlyArray<string> => [
  ...decisionLines({ decisions, settings, fixed: fixedPath }, columns, {
    step: ({ step }) => String(step),
    ...shown,
    groups: ({ effectiveGroups }) => (effectiveGroups === null ? "-" : effectiveGroups.toFixed(0))
  }),
  "",
  ...Text.wrap(
    `Best instruction: ${best.logged} logged, ${best.replayed} what if. Mean training reward: ` +
      `${percent(reward.logged)} logged, ${percent(reward.replayed)} what if.`,
    columns
  )
]

/** The decisions that differ, with what was held `fixed`, as a table: what is shown of one, by the names of columns. */
export const decisionLines = <D extends Compared>(
  {
    decisions,
    fixed,
    settings
  }: Pick<Asked, "settings"> & {
    readonly decisions: ReadonlyArray<D>
    readonly fixed: string
  },
  columns: number,
  cells: Readonly<Record<string, (one: D) => string>>
): ReadonlyArray<string> => {
  const changed = decisions.filter(differs)
  return [
    ...Text.wrap(fixed, columns),
    "",
    ...Text.wrap(`Settings: ${words(settings)}`, columns),
    ...Text.wrap(`${changed.length} of ${decisions.length} decisions differ.`, columns),
    ...(changed.length === 0
      ? []
      : [
          "",
          ...Text.table([Object.keys(cells), ...changed.map((one) => Object.values(cells).map((cell) => cell(one)))])
        ])
  ]
}

/** What is shown of every decision. */
export const shown = {
  decision: ({ kind }: Compared) => kind,
  logged: ({ logged }: Compared) => ids(logged),
  "what if": ({ replayed }: Compared) => ids(replayed)
}

/** One line for each point of a grid, and the reasons of those that the log does not answer. */
export const gridLines = (asked: ReadonlyArray<Asked>, columns: number): ReadonlyArray<string> => [
  ...Text.wrap(fixedPath, columns),
  "",
  ...Text.table([
    ["settings", "differ", "best", "reward"],
    ...asked.map(({ answer, settings }) => [
      Text.clip(words(settings), columns - 26),
      ...Result.match(answer, {
        onSuccess: ({ best, decisions, reward }) => [
          `${decisions.filter(differs).length}/${decisions.length}`,
          best.replayed,
          percent(reward.replayed)
        ],
        onFailure: () => ["refused", "-", "-"]
      })
    ])
  ]),
  ...asked.flatMap(({ answer, settings }) =>
    Result.isFailure(answer) ? ["", ...Text.wrap(`${words(settings)}: ${answer.failure.message}.`, columns)] : []
  )
]

const fixedPath =
  "The policy path is held fixed: policy, rollouts and proposed candidates stay those of the log, and only the decisions which instructions are " +
  "pruned, become parents, enter and win are made again."

/** A decision as logged, and as other settings make it; null where it is not due. */
interface Compared {
  readonly kind: string
  readonly logged: ReadonlyArray<string> | null
  readonly replayed: ReadonlyArray<string> | null
}

const differs = ({ logged, replayed }: Compared): boolean => !Equal.equals(logged, replayed)

const words = (settings: Asked["settings"]): string => {
  const changed = Object.entries(settings).map(([name, value]) => `${name}=${String(value)}`)
  return changed.length === 0 ? "those of the run" : changed.join(" ")
}

const ids = (names: ReadonlyArray<string> | null): string =>
  names === null ? "not due" : names.length === 0 ? "none" : Text.clip(names.join(" "), 24)
