/** The decisions between two units of time: prunings, parents, scores of candidates, and who joins. */
import { Instruction, Invariant } from "@inspo/domain"
import type { Population } from "@inspo/population"
import type { Verification } from "@inspo/verification"
import { Array as Arr } from "effect"
import type { Decision, EventOf } from "./Event.ts"
import { type Evolution, type EvolutionIn, type EvolutionState, instructionId, isAlive, isIn } from "./State.ts"
import type { Settings } from "./Schedule.ts"
import type { Strategies } from "./Strategies.ts"

/** What evolution needs to know to decide. */
export interface DecisionContext {
  readonly strategies: Omit<Strategies, "valuation">
  /** The values that members are ranked by. */
  readonly values: ReadonlyArray<Population.Value>
  readonly settings: {
    readonly population: Pick<Settings["population"], "size">
  }
  /** Members that no rule may remove, besides the parents of an evolution. */
  readonly protectedIds: ReadonlySet<Instruction.InstructionId>
  /** Members that can be no parents; by default none. */
  readonly barredIds?: ReadonlySet<Instruction.InstructionId>
  /** The generation of a parent. */
  readonly generationOf: (id: Instruction.InstructionId) => number
  readonly verification: VerificationContext
}

/** How candidates are verified. */
export interface VerificationContext {
  /** Whether candidates are asked questions before they are judged. */
  readonly asks: boolean
  /** The indices of the proposed candidates that may be verified; null while that is undecided. By default all. */
  readonly approvals?: ReadonlyArray<boolean | null>
  /** The scores that candidates are judged by; by default those of the stage. */
  readonly evidence?: (evolution: EvolutionIn<"Verifying">) => Verification.Evidence
}

/** The decision that is due; null where there is none, or where evolution waits for a proposal, an approval or scores. Pure. */
export const decide = (context: DecisionContext, state: EvolutionState): Decision | null => {
  const { evolution } = state
  switch (state.due) {
    case "Conclude":
      return null
    case "Nothing":
      return isIn(evolution, "Proposed") ? beginVerification(context, evolution) : null
    case "Prune":
      return prune(context, state)
    case "ChooseParents":
      return chooseParents(context, state)
    case "Judge":
      return judge(context, state, evolution)
    case "Refill":
      return refill(context, state)
  }
}

/** The members that are pruned. */
export const prune = (context: DecisionContext, { evolution, population }: EvolutionState): EventOf<"Pruned"> => {
  const { kept, pruned } = context.strategies.removal.prune(
    population,
    context.values,
    new Set([...context.protectedIds, ...(evolution?.parents ?? [])])
  )
  return { _tag: "Pruned", step: population.step, pruned, kept }
}

/** The start of an evolution: its parents, best first. */
export const chooseParents = (
  { barredIds, strategies, values }: DecisionContext,
  { population }: EvolutionState
): EventOf<"ParentsChosen"> => {
  const parents = strategies.removal.parents(population, values, barredIds).map(({ instruction }) => instruction.id)
  if (!Arr.isReadonlyArrayNonEmpty(parents)) throw new Invariant.InvariantBroken("every parent")
  return { _tag: "ParentsChosen", step: population.step, parents }
}

/** The new members, for the free places. The state must hold an evolution. */
export const refill = (context: DecisionContext, state: EvolutionState): EventOf<"PopulationRefilled"> => {
  const { admission, verification } = context.strategies
  const { evolution, population } = state
  if (evolution === null) throw new Invariant.InvariantBroken("an evolution")
  const { chosen, shortfall } = verification.refill({
    places: placesFor(context, state, evolution),
    verified: evolution.verified
  })
  const accepted = chosen.map(({ candidate, mean, parent, questions, reason: verdict }, place) => ({
    instruction: bornOf(context, state, { candidate, parent }, place),
    mean,
    questions,
    verdict
  }))
  const staying = [...certainOf(context, state, evolution)].filter((id) => isAlive(population, id))
  return {
    _tag: "PopulationRefilled",
    step: population.step,
    parents: evolution.parents,
    replaced: admission.replaced(
      population,
      context.values,
      new Set(staying),
      context.settings.population.size - accepted.length
    ),
    accepted,
    shortfall
  }
}

/** The start of verification, once it is decided which candidates to verify. */
const beginVerification = (
  { verification: { approvals, asks } }: DecisionContext,
  { round, stage, step }: EvolutionIn<"Proposed">
): EventOf<"VerificationBegun"> | null => {
  if (approvals?.includes(null) === true) return null
  const places = [...stage.candidates.keys()].filter((place) => approvals?.[place] !== false)
  return { _tag: "VerificationBegun", step, round, places, asks }
}

const bornOf = (
  { generationOf }: DecisionContext,
  { born, population }: EvolutionState,
  { candidate, parent }: { readonly candidate: Instruction.Candidate; readonly parent: Instruction.InstructionId },
  place: number
): Instruction.Instruction => ({
  ...Instruction.ofContent(Instruction.contentOf(candidate)),
  id: instructionId(born + place),
  generation: generationOf(parent) + 1,
  parent,
  origin: "proposed",
  bornAt: population.step
})

const judge = (
  context: DecisionContext,
  state: EvolutionState,
  evolution: Evolution | null
): EventOf<"CandidatesJudged"> => {
  if (!isIn(evolution, "Verifying")) throw new Invariant.InvariantBroken("candidates")
  const { round, stage, step, verified } = evolution
  const { strategies, verification } = context
  const verdicts = strategies.verification.judge(
    verification.evidence?.(evolution) ?? {
      ...(stage.scores ?? { candidates: stage.candidates.map(() => []), parent: null }),
      storedParentMean: null
    }
  )
  const progress = { round, places: placesFor(context, state, evolution), verified: [...verified, ...verdicts] }
  return { _tag: "CandidatesJudged", step, round, verdicts, again: strategies.verification.needsRound(progress) }
}

/** Members that stay whatever the scores of candidates. */
const certainOf = (
  context: DecisionContext,
  state: EvolutionState,
  { parents }: Evolution
): ReadonlySet<Instruction.InstructionId> =>
  new Set([...context.protectedIds, ...parents, ...(boundsOf(context, state)?.kept ?? [])])

/** How many candidates can join. */
const placesFor = (context: DecisionContext, state: EvolutionState, evolution: Evolution): number =>
  Math.max(
    0,
    Math.min(
      context.settings.population.size - certainOf(context, state, evolution).size,
      mostNewcomers(context, state)
    )
  )

/** The most newcomers of an evolution, whatever places there are. */
export const mostNewcomers = (context: DecisionContext, state: EvolutionState): number =>
  boundsOf(context, state)?.newcomers ?? Infinity

const boundsOf = ({ strategies }: DecisionContext, { entrants, population }: EvolutionState) =>
  strategies.admission.bounds?.(population, entrants)
