import { Projection } from "@inspo/analysis"
import { RunState } from "@inspo/coevolution"
import { PlainText, type Instruction, Group } from "@inspo/domain"
import { inWords } from "@inspo/report"
import { type LifeEvent, type RunRecord, trainingBatches } from "../RunRecord.ts"
import type { EvolutionView, LineageView } from "../view/LineageView.ts"
import { bestInstruction, namesOf } from "./Overview.ts"
import { evidenceOf } from "./Population.ts"
import { Interval } from "@inspo/statistics"

export const lineage = (record: RunRecord): LineageView => {
  const { lives, rows, state } = record
  const evidence = evidenceOf(record)
  const differences = againstParent(record)
  const found = evolutions(lives)
  const born = new Map(state.instructions.map(({ bornAt, id }) => [id, bornAt]))
  /** Candidates so far, by evolution: the records of an evolution are in the order of its candidates. */
  const met = new Map<EvolutionView, number>()
  const rationales = new Map(
    lives.flatMap((event) =>
      event._tag === "CandidatesProposed"
        ? event.candidates.map(({ rationale, text }) => [`${event.step} ${text}`, rationale] as const)
        : []
    )
  )
  return {
    step: state.step,
    best: bestInstruction(record)?.id ?? null,
    names: namesOf(record),
    evolutions: found.map((one) => ({ ...one, critique: PlainText.escape(one.critique) })),
    nodes: Projection.candidates(lives).map((candidate, index) => {
      const { fate, generation, id, leftAt, parent, reason, step, text, verification } = candidate
      const seen = id === null ? undefined : evidence.get(id)
      // Rounds of one step are matched by their critique, and by their order if it is the same.
      const evolution = found.findIndex(
        (one) =>
          one.step === step &&
          one.parent === parent &&
          one.critique === candidate.critique &&
          (met.get(one) ?? 0) < one.candidates
      )
      const round = found[evolution]
      const place = round === undefined ? 0 : (met.get(round) ?? 0)
      if (round !== undefined) met.set(round, place + 1)
      return {
        key: id ?? `candidate-${index}`,
        id,
        text: PlainText.escape(text),
        parent,
        generation,
        step: (id === null ? undefined : born.get(id)) ?? step,
        fate,
        leftAt,
        reason: reason === null ? null : inWords(reason),
        rationale: shown(rationales.get(`${step} ${text}`)),
        verification,
        trial: round === undefined || verification === null ? null : RunState.candidateId(round, place),
        value:
          id === null
            ? null
            : (rows.findLast((row) => row[`inspo/value/${id}`] !== undefined)?.[`inspo/value/${id}`] ?? null),
        groups: seen?.groups ?? 0,
        mean: seen?.mean ?? null,
        difference: (id === null ? undefined : differences.get(id)) ?? null,
        evolution: evolution < 0 ? null : evolution
      }
    })
  }
}

const shown = (text: string | undefined): string | null => (text === undefined ? null : PlainText.escape(text))

/** The rounds with proposals, and what their verification spent. */
const evolutions = (events: ReadonlyArray<LifeEvent>): ReadonlyArray<EvolutionView> => {
  const rounds: Array<EvolutionView> = []
  for (const event of events) {
    if (event._tag === "CandidatesProposed") {
      const { candidates, critique, failures, parent, rejected, round, step } = event
      const counts = { candidates: candidates.length, rejected: rejected.length, questions: null, rollouts: null }
      rounds.push({ step, round, parent, critique, failures, ...counts })
    }
    const last = rounds.at(-1)
    if (event._tag === "CandidatesVerified" && last !== undefined)
      rounds[rounds.length - 1] = {
        ...last,
        questions: (last.questions ?? 0) + event.questions.length,
        rollouts: (last.rollouts ?? 0) + event.rollouts
      }
  }
  return rounds
}

/**
 * The mean training reward of each instruction minus that of its parent, over the questions that both were given in the same
 * step. An instruction with fewer than two such questions is left out.
 */
export const againstParent = (
  record: Pick<RunRecord, "batches" | "state">
): ReadonlyMap<Instruction.InstructionId, Interval.MeanDifference> => {
  const parents = new Map(
    record.state.instructions.flatMap(({ id, parent }) => (parent === null ? [] : [[id, parent] as const]))
  )
  const differences = Map.groupBy(
    trainingBatches(record).flatMap(({ groups }) =>
      [...Map.groupBy(groups, ({ questionId }) => questionId).values()].flatMap((shared) => {
        const means = new Map(shared.map((group) => [group.instructionId, Group.meanReward(group)]))
        return [...means].flatMap(([id, own]) => {
          const parent = parents.get(id)
          const other = parent === undefined ? undefined : means.get(parent)
          return other === undefined ? [] : [{ id, difference: own - other }]
        })
      })
    ),
    ({ id }) => id
  )
  return new Map(
    [...differences].flatMap(([id, own]) => {
      const difference = Interval.meanDifference(own.map(({ difference }) => difference))
      return difference === null ? [] : [[id, difference] as const]
    })
  )
}
