/** What got better and what got worse from the policy before training under the seed to the final policy under the best instruction. */
import { Interval } from "@inspo/statistics"
import { decimals, gain, percent } from "@inspo/report"
import { Group } from "@inspo/domain"
import type { RunRecord } from "../RunRecord.ts"
import { cellOf, lastCell, type OverviewView } from "../view/OverviewView.ts"
import { bestInstruction, ends } from "./Overview.ts"

/** A score with a difference whose interval excludes 0 is better or worse, else undecided. */
export interface Change {
  readonly name: string
  readonly before: string
  readonly after: string
  readonly difference: string
  readonly result: "better" | "worse" | "undecided" | "costs more" | "costs less" | "costs the same"
}

/** The scores and the costs of an answer; empty if the run was not evaluated. */
export const changes = (
  { rows }: Pick<RunRecord, "rows">,
  { cells, trained }: Pick<OverviewView, "cells" | "trained">
): ReadonlyArray<Change> => {
  const before = cellOf(cells, "before", "seed")
  const after = lastCell(cells)
  if (before === undefined || after === undefined) return []
  const sources = Object.keys(after.sources).sort()
  return [
    scored(`${trained.measure}, all questions`, before, after),
    ...(sources.length < 2 ? [] : sources).flatMap((source) => {
      const [from, to] = [before.sources[source], after.sources[source]]
      return from === undefined || to === undefined ? [] : [scored(`${trained.measure}, ${source}`, from, to)]
    }),
    cost("tool calls per question", before.toolCalls, after.toolCalls),
    ...(
      [
        ["response tokens in training", "response_length/mean"],
        ["prompt tokens in training", "prompt_length/mean"]
      ] as const
    ).flatMap(([name, metric]) => {
      const { first, last } = ends(rows, metric)
      return first === null || last === null ? [] : [cost(name, first, last)]
    })
  ]
}

/** The numbers of test questions whose answers got better and worse; null if the run was not evaluated. */
export const turned = (
  record: RunRecord
): { readonly better: number; readonly worse: number; readonly of: number } | null => {
  const { evaluations, instructions } = record.state
  const scoresOf = (policy: "before" | "after", instruction: string | undefined) => {
    const found = evaluations.find((one) => one.policy === policy && one.instruction === instruction)
    // A question can occur more than once.
    return [...Map.groupBy(found?.groups ?? [], ({ questionId }) => questionId)].flatMap(([question, own]) =>
      own.map((group, place) => [`${place} ${question}`, Group.meanReward(group)] as const)
    )
  }
  const seed = instructions[0]?.id
  const before = new Map(scoresOf("before", seed))
  const best = scoresOf("after", bestInstruction(record)?.id)
  const after = best.length > 0 ? best : scoresOf("after", seed)
  const differences = after.flatMap(([question, score]) => {
    const other = before.get(question)
    return other === undefined ? [] : [score - other]
  })
  return differences.length === 0
    ? null
    : {
        better: differences.filter((one) => one > 0).length,
        worse: differences.filter((one) => one < 0).length,
        of: differences.length
      }
}

const scored = (name: string, before: Interval.Estimated, after: Interval.Estimated): Change => {
  const bounds = Interval.ofDifference(after, before)
  return {
    name,
    before: percent(before.mean),
    after: percent(after.mean),
    difference: gain(after, before),
    result: bounds[0] > 0 ? "better" : bounds[1] < 0 ? "worse" : "undecided"
  }
}

const cost = (name: string, before: number, after: number): Change => {
  const shown = [decimals(before), decimals(after)] as const
  const difference = Number(shown[1]) - Number(shown[0])
  return {
    name,
    before: shown[0],
    after: shown[1],
    difference: `${difference < 0 ? "−" : "+"}${decimals(Math.abs(difference))}`,
    result: `costs ${difference > 0 ? "more" : difference < 0 ? "less" : "the same"}`
  }
}
