import { Projection, verdict } from "@inspo/analysis"
import { Group, type Instruction, PlainText } from "@inspo/domain"
import { inWords, labels } from "@inspo/report"
import { Difference } from "@inspo/population"
import { type RunRecord, trainingBatches } from "../RunRecord.ts"
import type { LifeView, PopulationView } from "../view/PopulationView.ts"
import { marks } from "./Marks.ts"
import { namesOf } from "./Overview.ts"

export const population = (record: RunRecord): PopulationView => {
  const { lives, rows, state } = record
  const steps = rows.map(({ step }) => step ?? 0)
  const evidence = evidenceOf(record)
  const candidates = new Map(
    Projection.candidates(lives).flatMap((candidate) => (candidate.id === null ? [] : [[candidate.id, candidate]]))
  )
  const seed = state.instructions[0]?.id
  const chances = new Map(
    state.population.members.map(({ instruction }, place) => [
      instruction.id,
      state.population.comparison.chances[place]
    ])
  )
  return {
    steps,
    lives: state.instructions.map(({ bornAt, generation, id, text }): LifeView => {
      const candidate = candidates.get(id)
      const from = steps.findIndex((step) => step > bornAt)
      const leftAt = candidate?.leftAt ?? null
      // Without a step there is no curve yet.
      const own = from < 0 ? [] : rows.slice(from).filter(({ step }) => leftAt === null || (step ?? 0) <= leftAt)
      const { groups, mean } = evidence.get(id) ?? { groups: 0, mean: null }
      return {
        id,
        text: PlainText.escape(text),
        generation,
        bornAt,
        leftAt,
        fate: candidate?.fate ?? "alive",
        reason: candidate === undefined || candidate.reason === null ? null : inWords(candidate.reason),
        from: Math.max(0, from),
        values: own.map((row) => row[`inspo/value/${id}`] ?? null),
        probabilities: own.map((row) => row[`inspo/prob/${id}`] ?? null),
        chance: chances.get(id) ?? null,
        difference: id === seed || seed === undefined ? null : Difference.between(state.population, id, seed),
        groups,
        mean
      }
    }),
    names: namesOf(record),
    verdict: verdict(state, labels(record.names)),
    marks: marks(record)
  }
}

/** Training groups and their mean reward by instruction, over the whole run. */
export const evidenceOf = (
  record: RunRecord
): ReadonlyMap<Instruction.InstructionId, { readonly groups: number; readonly mean: number | null }> => {
  const sums = new Map<Instruction.InstructionId, { groups: number; total: number }>()
  for (const group of trainingBatches(record).flatMap(({ groups }) => groups)) {
    const sum = sums.get(group.instructionId) ?? { groups: 0, total: 0 }
    sums.set(group.instructionId, { groups: sum.groups + 1, total: sum.total + Group.meanReward(group) })
  }
  return new Map(
    [...sums].map(([id, { groups, total }]) => [id, { groups, mean: groups === 0 ? null : total / groups }])
  )
}
