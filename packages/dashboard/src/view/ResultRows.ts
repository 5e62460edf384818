/** The rows of the table of results. */
import { plural } from "@inspo/report"
import type { CellView, OverviewView } from "./OverviewView.ts"

/** A cell, or the static baseline, which has no instruction of the run. */
export interface ResultRow extends Pick<CellView, "mean" | "ci95"> {
  readonly policy: string
  readonly role: string
  /** The id of the instruction. */
  readonly id: string | null
  readonly note: string
  readonly toolCalls: string
  /** Whether this is the main result: after training, with the best instruction. */
  readonly isHeadline: boolean
}

export const resultRows = ({ baseline, cells }: OverviewView): ReadonlyArray<ResultRow> => [
  ...cells.map(({ ci95, instruction, mean, policy, role, toolCalls }) => ({
    policy: `${policy} training`,
    role,
    id: instruction,
    note: "",
    mean,
    ci95,
    toolCalls: toolCalls.toFixed(2),
    isHeadline: policy === "after" && role === "best"
  })),
  ...(baseline === null
    ? []
    : [
        {
          policy: "static baseline",
          role: "seed",
          id: null,
          note: plural(baseline.rollouts, "rollout"),
          mean: baseline.em,
          ci95: baseline.ci95,
          toolCalls: "–",
          isHeadline: false
        }
      ])
]
