/** The decisions between two units of time: prunings, parents, scores of candidates, and who joins. */
import { type Candidate, contentOf, type Instruction, type InstructionId, ofContent } from "@inspo/domain/Instruction"
import * as Invariant from "@inspo/domain/Invariant"
import type { Value } from "@inspo/population/Population"
import * as Round from "@inspo/verification/Round"
import type { Evidence, Verdict } from "@inspo/verification/Verification"
import { Array as Arr } from "effect"
import type { Decision, EventOf } from "./Event.ts"
import { meanOf } from "./Observe.ts"
import {
  candidateId,
  type Evolution,
  type EvolutionIn,
  type EvolutionState,
  instructionId,
  isAlive,
  isIn
} from "./State.ts"
import type { Settings } from "./Settings.ts"
import type { Strategies } from "./Strategies.ts"

/** What evolution needs to know to decide. */
export interface DecisionContext {
  readonly strategies: Strategies
  /** The values that members are ranked by. */
  readonly values: ReadonlyArray<Value>
  readonly settings: {
    readonly population: Pick<Settings["population"], "size">
    readonly verification: Pick<Settings["verification"], "samples">
  }
  /** Members that no rule may remove, besides the parents of an evolution. */
  readonly protectedIds: ReadonlySet<InstructionId>
  /** The generation of a parent. */
  readonly generationOf: (id: InstructionId) => number
  readonly verification: VerificationContext
}

/** How candidates are verified. */
export interface VerificationContext {
  readonly design: Round.Design
  /** Whether candidates share the traffic with the members, instead of a paired trial on their parent's questions. */
  readonly isSplit: boolean
  /** Whether no later unit of time can bring scores. */
  readonly isLast: boolean
  /** The indices of the proposed candidates that may be verified; null while that is undecided. By default all. */
  readonly approvals?: ReadonlyArray<boolean | null>
  /** The scores that a paired trial is judged by; by default those of its round. */
  readonly evidence?: (evolution: EvolutionIn<"PairedTrial">) => Evidence
}

/** The decision that is due; null where there is none, or where evolution waits for a proposal, an approval or scores. Pure. */
export const decide = (context: DecisionContext, state: EvolutionState): Decision | null => {
  const { evolution } = state
  switch (state.due) {
    case "Conclude":
      return null
    case "Nothing":
      return isIn(evolution, "Proposed") ? beginVerification(context, state, evolution) : null
    case "Prune":
      return prune(context, state)
    case "ChooseParents":
      return chooseParents(context, state)
    case "Score":
      return score(state, inStage(evolution, "PairedTrial"))
    case "Judge":
      return isIn(evolution, "TrafficSplit")
        ? judgeSplit(context, state, evolution)
        : judgePairs(context, inStage(evolution, "PairedTrial"))
    case "Refill":
      return refill(context, state)
  }
}

/** The members that successive halving prunes. */
export const prune = (context: DecisionContext, { evolution, population }: EvolutionState): EventOf<"Pruned"> => {
  const { kept, pruned } = context.strategies.halving.prune(
    population,
    context.values,
    new Set([...context.protectedIds, ...(evolution?.parents ?? [])])
  )
  return { _tag: "Pruned", step: population.step, pruned, kept }
}

/** The start of an evolution: its parents, best first. */
export const chooseParents = (
  { strategies, values }: DecisionContext,
  { population }: EvolutionState
): EventOf<"ParentsChosen"> => {
  const parents = strategies.halving.parents(population, values).map(({ instruction }) => instruction.id)
  if (!Arr.isReadonlyArrayNonEmpty(parents)) throw new Invariant.InvariantBroken({ missing: "every parent" })
  return { _tag: "ParentsChosen", step: population.step, parents }
}

/** The new members, for the free places. The state must hold an evolution. */
export const refill = (context: DecisionContext, state: EvolutionState): EventOf<"PopulationRefilled"> => {
  const { halving, verification } = context.strategies
  const { evolution, population } = state
  if (evolution === null) throw new Invariant.InvariantBroken({ missing: "an evolution" })
  const { chosen, shortfall } = verification.refill({
    places: placesFor(context, evolution),
    verified: evolution.verified
  })
  let born = 0
  const accepted = chosen.map(({ candidate, mean, parent, questions, reason: verdict }) => ({
    instruction: presentOf(state, evolution, candidate) ?? bornOf(context, state, { candidate, parent }, born++),
    mean,
    questions,
    verdict
  }))
  const certain = certainOf(context, evolution)
  const staying = new Set([...certain, ...accepted.map(({ instruction }) => instruction.id)])
  const spared = isIn(evolution, "TrafficSplit") ? sparedOf(context, state, evolution, staying) : []
  return {
    _tag: "PopulationRefilled",
    step: population.step,
    parents: evolution.parents,
    replaced: halving.replaced(population, context.values, living(state, [...staying, ...spared])),
    accepted,
    shortfall
  }
}

/** The start of verification, once it is decided which candidates to verify. Those that share the traffic join at once. */
const beginVerification = (
  context: DecisionContext,
  state: EvolutionState,
  { round, stage, step }: EvolutionIn<"Proposed">
): EventOf<"VerificationBegun"> | null => {
  const { approvals, isSplit } = context.verification
  const asks = context.settings.verification.samples > 0
  const { parent } = stage
  if (approvals?.includes(null) === true) return null
  const places = [...stage.candidates.keys()].filter((place) => approvals?.[place] !== false)
  const candidates = places.map((place) => Invariant.at(stage.candidates, place, "candidate"))
  return {
    _tag: "VerificationBegun",
    step,
    round,
    places,
    entering:
      isSplit && asks ? candidates.map((candidate, place) => bornOf(context, state, { candidate, parent }, place)) : [],
    asks
  }
}

const bornOf = (
  { generationOf }: DecisionContext,
  { born, population }: EvolutionState,
  { candidate, parent }: { readonly candidate: Candidate; readonly parent: InstructionId },
  place: number
): Instruction => ({
  ...ofContent(contentOf(candidate)),
  id: instructionId(born + place),
  generation: generationOf(parent) + 1,
  parent,
  origin: "proposed",
  bornAt: population.step
})

/** The scores of candidates and parent in a unit of time: their mean rewards on the questions that all were asked. */
const score = (
  { tried: groups }: EvolutionState,
  evolution: EvolutionIn<"PairedTrial">
): EventOf<"CandidatesVerified"> => {
  const { parent, round } = evolution.stage
  const tried = new Set(round.remaining.map((place) => candidateId(evolution, place)))
  const key = (id: string, question: string) => JSON.stringify([id, question])
  const means = new Map(
    groups.flatMap(({ instruction, question, rewards }) =>
      question === null || rewards.length === 0 ? [] : [[key(instruction, question), meanOf(rewards)] as const]
    )
  )
  const asked = Arr.dedupe(
    groups.flatMap(({ instruction, question }) => (question !== null && tried.has(instruction) ? [question] : []))
  )
  const mean = (id: string, question: string) => means.get(key(id, question)) ?? null
  return {
    _tag: "CandidatesVerified",
    step: evolution.step,
    round: evolution.round,
    batch: round.batches,
    ...Round.scored(
      round,
      asked,
      (question) => mean(parent, question),
      (place, question) => mean(candidateId(evolution, place), question)
    )
  }
}

const judgePairs = (context: DecisionContext, evolution: EvolutionIn<"PairedTrial">): Decision => {
  const { strategies, verification } = context
  const { round: number, stage, step } = evolution
  const accepted = evolution.verified.filter((verdict) => verdict.accepted).length
  const { cutShort, remaining } = Round.analyse(strategies.verification, verification.design, stage.round, {
    places: placesFor(context, evolution) - accepted,
    isLast: verification.isLast
  })
  if (Arr.isReadonlyArrayNonEmpty(remaining)) return { _tag: "VerificationContinued", step, round: number, remaining }
  const evidence = verification.evidence?.(evolution) ?? { ...stage.round, storedParentMean: null }
  const verdicts = Round.judge(strategies.verification, evidence, {
    cutShort,
    storedParentMean: evidence.storedParentMean
  })
  return judgement(context, evolution, verdicts)
}

const judgeSplit = (
  context: DecisionContext,
  { population }: EvolutionState,
  evolution: EvolutionIn<"TrafficSplit">
): Decision => {
  const { round, stage, step } = evolution
  const { questions } = context.verification.design
  const remaining = stage.ids.flatMap((id, place) =>
    isAlive(population, id) && (stage.scores[place]?.groups ?? 0) < questions ? [place] : []
  )
  return Arr.isReadonlyArrayNonEmpty(remaining)
    ? { _tag: "VerificationContinued", step, round, remaining }
    : judgement(context, evolution, splitVerdicts(population, stage))
}

const judgement = (
  context: DecisionContext,
  evolution: Evolution,
  verdicts: ReadonlyArray<Verdict>
): EventOf<"CandidatesJudged"> => {
  const { round, step, verified } = evolution
  const { strategies, verification } = context
  const progress = { round, places: placesFor(context, evolution), verified: [...verified, ...verdicts] }
  return {
    _tag: "CandidatesJudged",
    step,
    round,
    verdicts,
    again: !verification.isLast && strategies.verification.needsRound(progress)
  }
}

/** A candidate that is a member passes if its mean is at least its parent's over the same units and it is still a member. */
const splitVerdicts = (
  population: EvolutionState["population"],
  { ids, parentScore, scores }: EvolutionIn<"TrafficSplit">["stage"]
): ReadonlyArray<Verdict> =>
  Invariant.zip(ids, scores, "candidates and scores").map(([id, { groups, sum }]) => {
    const mean = groups === 0 ? 0 : sum / groups
    const parentMean = parentScore.groups === 0 ? null : parentScore.sum / parentScore.groups
    const isWorse = !isAlive(population, id) || (parentMean !== null && mean < parentMean)
    return {
      accepted: groups > 0 && !isWorse,
      reason: groups === 0 ? "no-questions" : isWorse ? "worse" : parentMean === null ? "no-baseline" : "not-worse",
      score: mean - (parentMean ?? 0),
      mean,
      parentMean,
      questions: groups,
      wins: 0,
      losses: 0
    }
  })

/** Members that stay whatever the scores of candidates. */
const certainOf = ({ protectedIds }: DecisionContext, { parents }: Evolution): ReadonlySet<InstructionId> =>
  new Set([...protectedIds, ...parents])

/** How many candidates can join. */
const placesFor = (context: DecisionContext, evolution: Evolution): number =>
  context.settings.population.size - certainOf(context, evolution).size

/** The member that an accepted candidate already is, if it shared the traffic. */
const presentOf = (
  { population }: EvolutionState,
  { stage }: Evolution,
  candidate: Candidate
): Instruction | undefined => {
  if (stage._tag !== "TrafficSplit") return undefined
  const id = stage.ids[stage.candidates.indexOf(candidate)]
  return population.members.find(({ instruction }) => instruction.id === id)?.instruction
}

/** The members that stay besides newcomers that shared the traffic: the best of the others, as many as fit. */
const sparedOf = (
  { settings, strategies, values }: DecisionContext,
  state: EvolutionState,
  { stage }: EvolutionIn<"TrafficSplit">,
  staying: ReadonlySet<InstructionId>
): ReadonlyArray<InstructionId> => {
  const tried = new Set(stage.ids)
  const others = strategies.halving
    .replaced(state.population, values, living(state, [...staying]))
    .filter(({ id }) => !tried.has(id))
    .toReversed()
    .map(({ id }) => id)
  return others.slice(0, Math.max(0, settings.population.size - staying.size))
}

const living = ({ population }: EvolutionState, ids: ReadonlyArray<InstructionId>): ReadonlySet<InstructionId> =>
  new Set(ids.filter((id) => isAlive(population, id)))

const inStage = <Tag extends "PairedTrial">(evolution: Evolution | null, tag: Tag): EvolutionIn<Tag> => {
  if (!isIn(evolution, tag)) throw new Invariant.InvariantBroken({ missing: `an evolution in the stage ${tag}` })
  return evolution
}
