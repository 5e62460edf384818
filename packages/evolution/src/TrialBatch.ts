/** The questions of a unit that go to a paired trial. */
import type { InstructionId } from "@inspo/domain/Instruction"
import type { QuestionId } from "@inspo/domain/Question"
import * as Round from "@inspo/verification/Round"
import { candidateId, type EvolutionState, isIn } from "./State.ts"

/** Each question of `asked` goes to every one of `arms`, the parent first; the `others` are left for the members. */
export interface TrialBatch<Q> {
  readonly asked: ReadonlyArray<Q>
  readonly arms: ReadonlyArray<InstructionId>
  readonly others: ReadonlyArray<Q>
}

/** Divides a batch of questions; without a paired trial, all go to the members. */
export const divide = <Q extends { readonly id: QuestionId }>(
  design: Round.Design,
  { evolution }: Pick<EvolutionState, "evolution">,
  batch: ReadonlyArray<Q>
): TrialBatch<Q> => {
  if (!isIn(evolution, "PairedTrial")) return { asked: [], arms: [], others: batch }
  const { parent, reflected, round } = evolution.stage
  return {
    ...Round.divide(design, round, { batch, excluded: reflected }),
    arms: [parent, ...round.remaining.map((place) => candidateId(evolution, place))]
  }
}
