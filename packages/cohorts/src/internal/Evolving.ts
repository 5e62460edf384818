/** What is decided between two cohorts: who is pruned, who descends, how candidates did, who enters, who is the incumbent. */
import { InstructionId } from "@inspo/domain/Instruction"
import * as Invariant from "@inspo/domain/Invariant"
import * as Round from "@inspo/verification/Round"
import type { Verdict } from "@inspo/verification/Verification"
import { Array as Arr, Option } from "effect"
import * as Difference from "../Difference.ts"
import type { EventOf, PopulationEvent } from "../Event.ts"
import {
  candidateId,
  type Evolution,
  type Incumbent,
  type Learning,
  type Proposed,
  type Stage,
  textOf,
  type Verified
} from "../Learning.ts"
import * as Lifelong from "../Lifelong.ts"
import type { Settings } from "../Settings.ts"
import { dossier, isAlive, type State } from "../State.ts"
import type { Strategies } from "../Strategies.ts"

/** The decision that is due after a cohort, until there is none. */
export const decide = (strategies: Strategies, state: State): PopulationEvent | null => {
  const { learning } = state
  const { evolution, folded: step } = learning
  const weights = strategies.weights(learning.population)
  switch (learning.phase) {
    case "Rest":
      return evolution === null || state.isFrozen ? null : beginTrial(state, evolution)
    case "Prune":
      return { _tag: "Pruned", step, ...strategies.prune(learning, weights, protectedIds(state)) }
    case "ChooseParents":
      return chooseParents(strategies, state)
    case "Score":
      return score(learning, inTrial(evolution, "Pairing"))
    case "Judge":
      return judge(strategies, state, invariably(evolution, "an evolution"))
    case "Refill":
      return refill(strategies, state, invariably(evolution, "an evolution"))
    case "Conclude":
      return conclude(strategies, state)
  }
}

/** The beginning of an evolution. */
export const chooseParents = (strategies: Strategies, { learning }: State): EventOf<"ParentsChosen"> => {
  const parents = strategies.parents(learning, strategies.weights(learning.population))
  if (!Arr.isReadonlyArrayNonEmpty(parents)) throw new Invariant.InvariantBroken({ missing: "every parent" })
  return { _tag: "ParentsChosen", step: learning.folded, parents }
}

/** Members that no rule may drop: pinned ones, those who are descended from, and online the seed, which is the control. */
export const protectedIds = ({ learning, settings }: State): ReadonlySet<InstructionId> =>
  new Set([
    ...learning.population.members
      .map(({ instruction }) => instruction.id)
      .filter((id) => dossier(learning, id).isPinned),
    ...(learning.evolution?.parents ?? []),
    ...(settings.profile === "online" ? [learning.seed] : [])
  ])

/** How a paired trial is held. */
export const design = ({ trial }: Settings): Round.Design => ({
  questions: trial.samples,
  interim: trial.lookEvery,
  inSteps: true
})

/** Once a person has decided on all candidates, or nobody has to, those who may are tried. */
const beginTrial = ({ learning, settings }: State, evolution: Evolution): EventOf<"TrialBegun"> | null => {
  const { round, stage, step } = evolution
  if (stage._tag !== "Approving") return null
  if (settings.approval && stage.verdicts.includes(null)) return null
  const candidates = stage.candidates.filter((_, place) => stage.verdicts[place] !== false)
  const shares = !settings.trial.paired && settings.trial.samples > 0
  return {
    _tag: "TrialBegun",
    step,
    round,
    candidates,
    entering: shares ? candidates.map((candidate, place) => born(learning, candidate, stage.parent, place)) : []
  }
}

const born = (learning: Learning, { content }: Proposed, parent: InstructionId, place: number) => ({
  content,
  instruction: {
    id: InstructionId.make(`i${learning.born + place}`),
    text: textOf(content),
    generation: generationOf(learning, parent) + 1,
    parent,
    origin: "proposed" as const,
    bornAt: learning.folded
  }
})

const generationOf = ({ population }: Learning, id: InstructionId): number =>
  invariably(
    population.members.find(({ instruction }) => instruction.id === id),
    `the parent ${id}`
  ).instruction.generation

type InTrial<Tag extends "Pairing" | "Sharing"> = Evolution & {
  readonly stage: Extract<Stage, { readonly _tag: Tag }>
}

const inTrial = <Tag extends "Pairing" | "Sharing">(evolution: Evolution | null, tag: Tag): InTrial<Tag> => {
  const isStage = (stage: Stage): stage is Extract<Stage, { readonly _tag: Tag }> => stage._tag === tag
  if (evolution === null || !isStage(evolution.stage)) throw new Invariant.InvariantBroken({ missing: "a trial" })
  return { ...evolution, stage: evolution.stage }
}

/** What a cohort says about candidates and parent: their mean rewards on the questions that all were asked. */
const score = ({ trial }: Learning, evolution: InTrial<"Pairing">): EventOf<"TrialScored"> => {
  const { parent, round } = evolution.stage
  const tried = new Set(round.remaining.map((place) => candidateId(evolution, place)))
  const key = (id: string, question: string) => JSON.stringify([id, question])
  const means = new Map(
    trial.flatMap(({ instruction, question, rewards }) =>
      question === null || rewards.length === 0
        ? []
        : [[key(instruction, question), rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length] as const]
    )
  )
  const asked = Arr.dedupe(
    trial.flatMap(({ instruction, question }) => (question !== null && tried.has(instruction) ? [question] : []))
  )
  const mean = (id: string, question: string) => means.get(key(id, question)) ?? null
  return {
    _tag: "TrialScored",
    step: evolution.step,
    ...Round.scored(
      round,
      asked,
      (question) => mean(parent, question),
      (place, question) => mean(candidateId(evolution, place), question)
    )
  }
}

const judge = (strategies: Strategies, state: State, evolution: Evolution): PopulationEvent => {
  const { settings } = state
  const { stage, step } = evolution
  const { verification } = strategies
  const places = placesFor(state, evolution)
  if (stage._tag === "Sharing") {
    const open = stage.ids.flatMap((id, place) =>
      isAlive(state.learning.population, id) && (stage.scores[place]?.units ?? 0) < settings.trial.samples
        ? [place]
        : []
    )
    return open.length > 0
      ? { _tag: "TrialContinued", step, remaining: open }
      : judged(verification, evolution, sharedVerdicts(state.learning, stage), places)
  }
  const { candidates, round } = inTrial(evolution, "Pairing").stage
  const accepted = evolution.verified.filter((verdict) => verdict.accepted).length
  const { cutShort, remaining } = Round.analyse(verification, design(settings), round, {
    places: places - accepted,
    isLast: false
  })
  if (remaining.length > 0) return { _tag: "TrialContinued", step, remaining }
  const scores = { candidates: candidates.map((_, place) => round.candidates[place] ?? []), parent: round.parent }
  const verdicts = Round.judge(verification, scores, { cutShort, storedParentMean: null })
  return judged(verification, evolution, verdicts, places)
}

const judged = (
  verification: Strategies["verification"],
  { round, step, verified }: Evolution,
  verdicts: ReadonlyArray<Verdict>,
  places: number
): PopulationEvent => ({
  _tag: "CandidatesJudged",
  step,
  round,
  verdicts,
  again: verification.needsRound({ round, places, verified: [...verified, ...verdicts] })
})

/** A candidate among the members passes when its mean is at least its parent's over the same cohorts, and it is still there. */
const sharedVerdicts = (
  { population }: Learning,
  { ids, parentScore, scores }: Extract<Stage, { readonly _tag: "Sharing" }>
): ReadonlyArray<Verdict> =>
  Invariant.zip(ids, scores, "candidates and scores").map(([id, { sum, units }]) => {
    const mean = units === 0 ? 0 : sum / units
    const parentMean = parentScore.units === 0 ? null : parentScore.sum / parentScore.units
    const isWorse = !isAlive(population, id) || (parentMean !== null && mean < parentMean)
    return {
      accepted: units > 0 && !isWorse,
      reason: units === 0 ? "no-questions" : isWorse ? "worse" : parentMean === null ? "no-baseline" : "not-worse",
      score: mean - (parentMean ?? 0),
      mean,
      parentMean,
      questions: units,
      wins: 0,
      losses: 0
    }
  })

/** Places that candidates can take. */
const placesFor = (state: State, { parents }: Evolution): number =>
  state.settings.size - new Set([...protectedIds(state), ...parents]).size

/** Who takes the places that are not taken by those who stay. */
export const refill = (strategies: Strategies, state: State, evolution: Evolution): EventOf<"Refilled"> => {
  const { learning } = state
  const { chosen, shortfall } = strategies.verification.refill({
    places: placesFor(state, evolution),
    verified: evolution.verified
  })
  const accepted = acceptedOf(learning, evolution, chosen)
  const weights = strategies.weights(learning.population)
  const entered = accepted.map(({ instruction }) => instruction.id)
  const staying = new Set([...protectedIds(state), ...entered, ...sparedOf(strategies, state, evolution, entered)])
  return {
    _tag: "Refilled",
    step: learning.folded,
    parents: evolution.parents,
    replaced: strategies.replaced(learning, weights, staying),
    accepted,
    shortfall
  }
}

const acceptedOf = (
  learning: Learning,
  { stage }: Evolution,
  chosen: ReadonlyArray<Verified>
): EventOf<"Refilled">["accepted"] => {
  let next = 0
  return chosen.map((verified) => {
    const { candidate, mean, parent, questions, reason: verdict } = verified
    const place = stage._tag === "Sharing" ? stage.candidates.indexOf(candidate) : -1
    const present =
      stage._tag === "Sharing"
        ? learning.population.members.find(({ instruction }) => instruction.id === stage.ids[place])
        : undefined
    const instruction = present?.instruction ?? born(learning, candidate, parent, next++).instruction
    return { instruction, content: candidate.content, mean, questions, verdict }
  })
}

/** Who may stay beside newcomers that shared the traffic: the best of the others, as long as there is room. */
const sparedOf = (
  strategies: Strategies,
  state: State,
  { stage }: Evolution,
  entered: ReadonlyArray<InstructionId>
): ReadonlyArray<InstructionId> => {
  if (stage._tag !== "Sharing") return []
  const { learning, settings } = state
  const certain = protectedIds(state)
  const tried = new Set(stage.ids)
  const staying = new Set([...certain, ...entered])
  const others = strategies
    .replaced(learning, strategies.weights(learning.population), staying)
    .filter(({ id }) => !tried.has(id))
    .toReversed()
    .map(({ id }) => id)
  return others.slice(0, Math.max(0, settings.size - staying.size))
}

const conclude = (strategies: Strategies, state: State): EventOf<"Concluded"> => {
  const { learning, settings } = state
  const { members } = learning.population
  const seed = members.find(({ instruction }) => instruction.id === learning.seed)
  return {
    _tag: "Concluded",
    incumbent: incumbentOf(strategies, state),
    established:
      seed === undefined
        ? []
        : members
            .filter(
              (member) =>
                dossier(learning, member.instruction.id).isNewcomer &&
                Difference.exceeds(learning, member, seed, { alpha: settings.delta, difference: 0 })
            )
            .map(({ instruction }) => instruction.id)
  }
}

/** The best of those that are known to be better than the seed; the seed where nobody is. */
const incumbentOf = (strategies: Strategies, { learning, settings }: State): Incumbent => {
  const { incumbent, population } = learning
  const known = (id: InstructionId, why: Incumbent["why"]): Incumbent => ({
    id,
    content: dossier(learning, id).content,
    why
  })
  const best = (some: typeof population.members): InstructionId | undefined =>
    Option.getOrUndefined(strategies.best({ ...population, members: some }))?.instruction.id
  const seed = population.members.find(({ instruction }) => instruction.id === learning.seed)
  if (seed !== undefined) {
    const proven = population.members.filter(
      (member) => member !== seed && Lifelong.claim(learning, member, seed) >= 1 / settings.delta
    )
    const first = best(proven)
    return first === undefined ? known(learning.seed, "nothing separates") : known(first, "better than the seed")
  }
  if (incumbent.id !== learning.seed && isAlive(population, incumbent.id)) return incumbent
  const first = best(population.members)
  const isBeaten = incumbent.why === "better than the seed" || incumbent.why === "the seed was pruned as worse"
  if (first === undefined || !isBeaten) return { ...incumbent, why: "the seed left" }
  return known(first, "the seed was pruned as worse")
}

const invariably = <A>(value: A | null | undefined, what: string): A => {
  if (value === null || value === undefined) throw new Invariant.InvariantBroken({ missing: what })
  return value
}

/** What a candidate says that is tried in questions of its own; null for any other instruction. */
export const candidateContent = ({ learning }: State, id: InstructionId): Proposed["content"] | null => {
  const { evolution } = learning
  if (evolution?.stage._tag !== "Pairing") return null
  return evolution.stage.candidates.find((_, place) => candidateId(evolution, place) === id)?.content ?? null
}
