/**
 * Algorithm 1 of the paper as one straight program, with the readings of what it leaves open. It shares no code with the
 * loop it is compared with.
 */
import type { Command, Algorithm, RunEvent, Strategies } from "@inspo/coevolution"
import { Predicate } from "effect"
import { holds, near, same } from "./Check.ts"
import * as Evidence from "./Evidence.ts"
import {
  bestOf,
  buffer,
  type History,
  mean,
  probabilities,
  ranking,
  type Remembered,
  returned,
  valued,
  values as valuesNow,
  total
} from "./History.ts"

/** What was commanded, if anything was, and what came of it. */
export interface Happening {
  readonly command: Command | null
  readonly event: RunEvent
}

type Following = Generator<void, void, Happening>

/** Follows a run event by event; throws as soon as one is not what the algorithm allows. */
export function* run(
  algorithm: Algorithm,
  questions: ReadonlyArray<Strategies.QuestionRef>,
  history: History
): Following {
  const { evaluation, population, schedule } = algorithm
  yield* receive("RunStarted")
  const first = yield* receive("PopulationInitialised")
  history.born = first.event.instructions
  history.first = history.born.length
  history.alive = history.born.map(({ id }) => id)
  history.newcomers = history.alive
  Evidence.enter(history.evidence, [], history.alive)
  yield* receive("CheckpointSaved")

  while (history.step < schedule.steps) {
    yield* takeStep(algorithm, questions, history)
    const t = history.step

    if (schedule.pruneEvery > 0 && t % schedule.pruneEvery === 0 && history.alive.length > population.parents)
      yield* prune(algorithm, history)
    if (evolvesAt(algorithm, t) || searchesAt(algorithm, history)) yield* evolve(algorithm, history)
    yield* endStep(algorithm, history)
  }

  const best = returned(algorithm, history)
  if (evaluation.questions > 0)
    for (const policy of ["after", "before"])
      for (const instruction of new Set([history.born[0]?.id, best])) {
        const { command, event } = yield* receive("Evaluated")
        same([event.policy, event.instruction], [policy, instruction])
        same(
          command?._tag === "Evaluate" ? command.checkpointStep : null,
          policy === "before" ? 0 : returnedStep(algorithm, history)
        )
      }
  same((yield* receive("RunFinished")).event.best, best)
}

/** One step until the population is up for change: plan, act, learn, look. */
function* takeStep(
  algorithm: Algorithm,
  questions: ReadonlyArray<Strategies.QuestionRef>,
  history: History
): Following {
  const { control, schedule, train } = algorithm
  const plan = (yield* receive("StepPlanned")).event
  assertPlan(algorithm, questions, history, plan)
  const { groups } = (yield* receive("RolloutsCollected")).event
  const t = history.step + 1
  observe(history, t, groups)
  if (train.fromStep !== null && t >= train.fromStep && t <= (control.policyFirst ?? schedule.steps)) {
    const { command } = yield* receive("TrainingPlanned")
    // Fixed before the samples were drawn.
    const levels = isShared(algorithm) ? Object.fromEntries(plan.values.map(({ id, value }) => [id, value])) : null
    same(command?._tag === "PlanTraining" ? command.levels : undefined, levels)
    const training = yield* receive("StepTrained")
    same(training.command?._tag === "Train" ? training.command.levels : undefined, levels)
  } else yield* receive("StepTrained")
  history.step = t
  if (looksAt(algorithm, t)) yield* validate(algorithm, history)
}

/** Whether instructions share the samples of a question. */
const isShared = ({ rollout }: Algorithm): boolean => rollout.instructionsPerQuestion === "samples"

/** The end of a step: the policy is saved where it is due. */
function* endStep(algorithm: Algorithm, { step }: History): Following {
  const { checkpoint, schedule } = algorithm
  if (looksAt(algorithm, step) || step === schedule.steps || step % checkpoint.every === 0)
    yield* receive("CheckpointSaved")
}

const looksAt = ({ evaluation, schedule }: Algorithm, t: number): boolean =>
  evaluation.every > 0 && (t % evaluation.every === 0 || t === schedule.steps)

function* receive<Tag extends RunEvent["_tag"]>(
  tag: Tag
): Generator<void, { readonly command: Command | null; readonly event: RunEvent & { readonly _tag: Tag } }, Happening> {
  const { command, event } = yield
  if (Predicate.isTagged(event, tag)) return { command, event }
  throw new Error(`${event._tag} happened where Algorithm 1 has ${tag}`)
}

function* validate(algorithm: Algorithm, history: History): Following {
  const { event } = yield* receive("Validated")
  same(event.instruction, bestOf(algorithm, history))
  const rewards = event.groups.flatMap(({ rewards }) => rewards)
  if (rewards.length > 0) history.validated = [...history.validated, { step: history.step, mean: mean(rewards) }]
}

/** Row 22: the step whose policy is returned. */
const returnedStep = ({ evaluation }: Algorithm, history: History): number => {
  const { select } = evaluation
  if (select === "best") {
    const highest = Math.max(...history.validated.map(({ mean }) => mean))
    return history.validated.findLast(({ mean }) => mean === highest)?.step ?? history.step
  }
  if (select === "last") return history.step
  const steps = [...new Set(history.remembered.map(({ step }) => step))]
  const means = steps.map((step) =>
    mean(history.remembered.filter((one) => one.step === step).map((one) => one.reward))
  )
  let peak = -1
  let peakStep = 0
  for (let end = 9; end < steps.length; end++) {
    const current = mean(means.slice(end - 9, end + 1))
    if (current > peak) [peak, peakStep] = [current, steps[end] ?? 0]
    else if (current < peak / 2)
      return Math.max(0, ...history.validated.map(({ step }) => step).filter((step) => step <= peakStep))
  }
  return history.step
}

const observe = (history: History, step: number, groups: Event<"RolloutsCollected">["groups"]): void => {
  const keys = groups.map(({ instructionId, questionId }) => `${instructionId} ${questionId}`)
  holds(new Set(keys).size === keys.length, "group keys are unique within a step")
  history.observed = step
  history.newcomers = []
  history.present = history.alive
  Evidence.observe(
    history.evidence,
    history.alive,
    groups.map(({ dataSource, instructionId, questionId, rewards }) => ({
      id: instructionId,
      question: questionId,
      source: dataSource,
      mean: mean(rewards),
      samples: rewards.length
    }))
  )
  history.observations = [
    ...history.observations,
    ...history.alive.flatMap((id) => {
      const own = groups.filter(({ instructionId }) => instructionId === id)
      return own.length === 0 ? [] : [{ step, id, rewards: own.flatMap(({ rewards }) => rewards), groups: own.length }]
    })
  ]
  history.remembered = [
    ...history.remembered,
    ...groups.flatMap(({ dataSource, instructionId, questionId, rewards, trajectories }) =>
      trajectories.map((trajectory, index) => ({
        trajectory,
        instruction: instructionId,
        question: questionId,
        step,
        reward: rewards[index] ?? NaN,
        source: dataSource
      }))
    )
  ]
}

/** Lines 3-5: a batch of distinct questions, each under instructions that have a share. */
const assertPlan = (
  algorithm: Algorithm,
  questions: ReadonlyArray<Strategies.QuestionRef>,
  history: History,
  plan: Event<"StepPlanned">
): void => {
  const { groupSize, instructionsPerQuestion } = algorithm.rollout
  const batchSize = Math.min(algorithm.train.batchSize, questions.length)
  const asked = [...new Set(plan.questions)]
  const sourceOf = new Map<string, string>(questions.map(({ dataSource, id }) => [id, dataSource]))
  same(plan.step, history.step + 1)
  holds(
    plan.questions.every((id) => sourceOf.has(id)),
    "the questions are training questions"
  )
  const values = new Map<string, number>(plan.values.map(({ id, value }) => [id, value]))
  for (const [id, value] of valuesNow(algorithm, history)) near(values.get(id), value)
  same([...values.keys()], [...history.alive])
  for (const { chance, id } of plan.values) same(chance, history.evidence.chances.get(id))
  history.planned = values

  const shares = probabilities(algorithm, history)
  same(Object.keys(plan.probabilities), [...shares.keys()])
  for (const [id, share] of shares) near(plan.probabilities[id], share)
  near(total(Object.values(plan.probabilities)), 1)

  same(plan.assignment.length, plan.questions.length)
  const pairs = plan.questions.map((question, index) => `${question} ${plan.assignment[index]}`)
  same(new Set(pairs).size, pairs.length, "an instruction has one group on a question")
  holds(
    plan.assignment.every((id) => (shares.get(id) ?? 0) > 0),
    "every instruction that has a question has a share"
  )

  if (isShared(algorithm)) {
    same(asked.length, batchSize)
    for (const question of asked) {
      const drawn = (id: string | null) =>
        total(
          (plan.samples ?? []).filter(
            (_, at) => plan.questions[at] === question && (id === null || plan.assignment[at] === id)
          )
        )
      same(drawn(null), groupSize)
      for (const [id, share] of shares)
        holds(
          Math.abs(drawn(id) - share * groupSize) < 1 + 1e-9,
          `${drawn(id)} samples where the share says ${share * groupSize}`
        )
    }
    return
  }
  same(plan.samples, undefined)
  same(plan.questions.length, batchSize)
  const most = Math.min(Number(instructionsPerQuestion), history.alive.length, 1 / Math.max(...shares.values()))
  if (instructionsPerQuestion !== 1) {
    // As few questions as no instruction is expected on one more than once.
    const expected = batchSize / Math.min(batchSize, Math.ceil(batchSize / most - 1e-9))
    near(batchSize / asked.length, expected)
    for (const question of asked) {
      const held = plan.questions.filter((other) => other === question).length
      holds(Math.abs(held - expected) < 1 + 1e-9, `${held} instructions on a question, where ${expected} are expected`)
    }
    return
  }
  same(asked.length, batchSize)
  if (algorithm.selection.assignment === "stratified")
    for (const source of new Set(plan.questions.map((id) => sourceOf.get(id)))) {
      const held = plan.assignment.filter((_, index) => sourceOf.get(plan.questions[index] ?? "") === source)
      for (const [id, share] of shares) {
        const count = held.filter((other) => other === id).length
        const expected = share * held.length
        holds(Math.abs(count - expected) < 1 + 1e-9, `${count} groups of ${source} where its share says ${expected}`)
      }
    }
}

/** Successive halving: the bottom half leaves, down to N_parent, or those whom the evidence refutes. */
function* prune(algorithm: Algorithm, history: History): Following {
  const { event } = yield* receive("Pruned")
  const { removal: rule } = algorithm.selection
  const by = valued(algorithm, history)
  const order = ranked(algorithm, history)
  const quota =
    rule === "evidence"
      ? order.length
      : Math.floor((rule === "fixed-half" ? algorithm.population.size : order.length) / 2)
  const most = Math.max(0, Math.min(quota, order.length - algorithm.population.parents))
  const leaving = order
    .toReversed()
    .filter((id) => rule !== "evidence" || isRefuted(algorithm, history, id))
    .slice(0, most)
  same(
    event.pruned.map(({ id }) => id),
    leaving
  )
  same(event.kept.toSorted(), order.filter((id) => !leaving.includes(id)).toSorted())
  for (const { id, value } of event.pruned) near(value, by.get(id))
  history.left = [...history.left, ...event.pruned]
  history.alive = history.alive.filter((id) => !leaving.includes(id))
  Evidence.leave(history.evidence, history.alive)
}

const isRefuted = ({ selection }: Algorithm, { alive, evidence }: History, id: string): boolean =>
  Evidence.isRefuted(evidence, alive, id, selection.risk)

/** By value, or the incumbent and then by P(best). */
const ranked = (algorithm: Algorithm, history: History): ReadonlyArray<string> => {
  if (algorithm.selection.removal !== "evidence") return ranking(algorithm, history, valued(algorithm, history))
  const { chances, incumbent } = history.evidence
  const merit = (id: string) => (id === incumbent ? 2 : (chances.get(id) ?? NaN))
  return history.alive.toSorted((a, b) => merit(b) - merit(a))
}

/** The most newcomers of an evolution: four until something is rewarded, then twice as many as the last time after a success, else half as many. */
const newcomersDue = (algorithm: Algorithm, { entrants, evidence }: History): number => {
  if (algorithm.selection.removal !== "evidence") return Infinity
  if (entrants === null || evidence.sum === 0) return 4
  return entrants.ids.includes(evidence.incumbent) ? 2 * entrants.places : Math.max(1, Math.floor(entrants.places / 2))
}

interface Tried {
  readonly text: string
  readonly parent: string
  /** What the parent has on the same questions, or on record. */
  readonly baseline: number | null
  readonly passed: boolean
  readonly score: number
  readonly mean: number
  readonly questions: number
}

/** Lines 12-23: rounds of proposing and verifying, until the population is full again or the rounds are used up. */
function* evolve(algorithm: Algorithm, history: History): Following {
  // By the letter parents come from the population as it was before pruning, but the best are never pruned.
  const { parents } = (yield* receive("ParentsChosen")).event
  same<ReadonlyArray<string>>(parents, ranked(algorithm, history).slice(0, algorithm.population.parents))
  const isByEvidence = algorithm.selection.removal === "evidence"
  const staying = history.alive.filter(
    (id) =>
      parents.some((parent) => parent === id) ||
      (isByEvidence &&
        (id === history.evidence.incumbent || (id === history.born[0]?.id && !isRefuted(algorithm, history, id))))
  )
  const newcomersMost = newcomersDue(algorithm, history)
  const places = Math.max(0, Math.min(algorithm.population.size - staying.length, newcomersMost))
  const tried: Array<Tried> = []
  for (let round = 1; round <= algorithm.selection.rounds; round++) {
    // Parents take turns; one that never fails gives its turn to the next.
    const turns = parents.map((_, later) => parents[(round - 1 + later) % parents.length] ?? "")
    const able = turns.filter((id) => failuresOf(algorithm, history, id).length > 0)
    if (able.length === 0) {
      if (round > 1) break
      yield* receive("EvolutionSkipped")
      return
    }
    const { command, event: proposal } = yield* receive("CandidatesProposed")
    if (command?._tag === "Propose") {
      assertKnowledge(history, tried, command)
      same(command.count, Math.min(algorithm.proposer.candidates, newcomersMost))
    }
    // Row 30: any parent that failed may be drawn; in turn it is the first of them.
    const isRandom = algorithm.selection.parent === "random"
    const parent = isRandom ? proposal.parent : (able[0] ?? "")
    holds(able.includes(parent), "the parent has failures")
    same([proposal.round, proposal.parent], [round, parent])
    assertFailures(algorithm, history, parent, proposal.failures)
    const { asks, places: verified } = (yield* receive("VerificationBegun")).event
    same<unknown>([verified, asks], [[...proposal.candidates.keys()], algorithm.verification.samples > 0])
    const scores =
      proposal.candidates.length === 0 || algorithm.verification.samples === 0
        ? { questions: [], candidates: proposal.candidates.map(() => []), parent: null }
        : yield* verify(algorithm, history, proposal)
    const judged = verdicts(algorithm, history, proposal, scores)
    tried.push(...judged)
    const isFull = tried.filter(({ passed }) => passed).length >= places
    const isLast = round === algorithm.selection.rounds
    const { event } = yield* receive("CandidatesJudged")
    same(
      event.verdicts.map(({ accepted, mean, parentMean, questions, score }) => [
        accepted,
        mean,
        parentMean,
        questions,
        score
      ]),
      judged.map(({ baseline, mean, passed, questions, score }) => [passed, mean, baseline, questions, score])
    )
    same([event.round, event.again], [round, !isFull && !isLast])
    if (!event.again) break
  }

  const { event } = yield* receive("PopulationRefilled")
  const byScore = tried.toSorted((a, b) => b.score - a.score)
  const entitled = [
    ...byScore.filter(({ passed }) => passed),
    ...byScore.filter(({ passed }) => !passed && algorithm.selection.fill)
  ].slice(0, places)
  same(event.parents, parents)
  same(
    event.accepted.map(({ instruction, mean }) => [instruction.text, instruction.parent, mean]),
    entitled.map(({ mean, parent, text }) => [text, parent, mean])
  )
  same(event.shortfall, places - entitled.length)
  same(
    event.replaced.map(({ id }) => id),
    ranked(algorithm, history)
      .filter((id) => !staying.includes(id))
      .slice(isByEvidence ? Math.max(0, algorithm.population.size - event.accepted.length - staying.length) : 0)
      .toReversed()
  )
  history.left = [...history.left, ...event.replaced]
  const newcomers = event.accepted.map(({ instruction }) => instruction)
  history.born = [...history.born, ...newcomers]
  history.newcomers = newcomers.map(({ id }) => id)
  history.entrants = { places: event.accepted.length + event.shortfall, ids: history.newcomers }
  const remaining = history.alive.filter((id) => event.replaced.every((one) => one.id !== id))
  Evidence.leave(history.evidence, remaining)
  const next = event.replaced.length > 0 ? Evidence.incumbents(history.evidence, remaining) : []
  if (next.length > 0 && !next.includes(history.evidence.incumbent)) history.evidence.incumbent = next[0] ?? ""
  Evidence.enter(history.evidence, remaining, history.newcomers)
  history.alive = [...remaining, ...history.newcomers]
  if (algorithm.selection.average !== "questions") history.reset = history.step
  for (const { instruction, mean, questions } of event.accepted) {
    if (questions > 0) history.verified.set(instruction.id, mean)
  }
}

/** What the arms of a round earned, question by question. */
interface Scores {
  readonly questions: ReadonlyArray<string>
  readonly candidates: ReadonlyArray<ReadonlyArray<number>>
  readonly parent: ReadonlyArray<number> | null
}

/** All questions at once. */
function* verify(
  algorithm: Algorithm,
  history: History,
  { failures }: Event<"CandidatesProposed">
): Generator<void, Scores, Happening> {
  const { command, event } = yield* receive("CandidatesVerified")
  assertVerificationSet(algorithm, history, failures, command?._tag === "Verify" ? command.questions : [])
  return event
}

/** A proposer sees every instruction that ever lived, once, and may repeat none of them, nor what was tried today. */
const assertKnowledge = (
  history: History,
  tried: ReadonlyArray<Tried>,
  command: Extract<Command, { readonly _tag: "Propose" }>
): void => {
  same(command.history.map(({ instruction }) => instruction.id).toSorted(), history.born.map(({ id }) => id).toSorted())
  same(
    command.known,
    [...history.born, ...tried].map(({ text }) => text)
  )
}

/** Whether the schedule has an evolution after step t, whatever was rewarded. */
export const evolvesAt = ({ control, population, schedule, verification }: Algorithm, t: number): boolean =>
  !(verification.samples === 0 && t === schedule.steps) &&
  schedule.evolveEvery > 0 &&
  t % schedule.evolveEvery === 0 &&
  t >= (control.policyFirst ?? 0) &&
  (schedule.evolveUntil === null || t <= schedule.evolveUntil) &&
  population.size > population.parents

/** After the first evolution, while there are rewards and all are 0. */
const searchesAt = ({ control, schedule, verification }: Algorithm, { entrants, evidence, step }: History): boolean =>
  entrants !== null &&
  evidence.samples > 0 &&
  evidence.sum === 0 &&
  verification.samples === 0 &&
  schedule.searchEvery > 0 &&
  step % schedule.searchEvery === 0 &&
  step >= (control.policyFirst ?? 0) &&
  step < schedule.steps

const failuresOf = (algorithm: Algorithm, history: History, parent: string): ReadonlyArray<Remembered> => {
  const held = buffer(algorithm, history)
  const latest = Math.max(...held.map(({ step }) => step))
  return held.filter(
    (one) =>
      one.reward < 0.5 && (algorithm.selection.failures === "any" ? one.step === latest : one.instruction === parent)
  )
}

/** Row 14: as many as asked for while there are; own ones latest first, and of as many questions as possible. */
const assertFailures = (algorithm: Algorithm, history: History, parent: string, shown: ReadonlyArray<string>): void => {
  const eligible = failuresOf(algorithm, history, parent)
  const chosen = shown.flatMap((id) => eligible.filter(({ trajectory }) => trajectory === id))
  same(new Set(shown).size, shown.length)
  same(chosen.length, shown.length)
  same(shown.length, Math.min(4, eligible.length))
  if (algorithm.selection.failures === "any") return
  const latest = latestOfEach(eligible)
  const repeats = eligible.map(({ step }) => step).toSorted((a, b) => b - a)
  for (const step of latest) repeats.splice(repeats.indexOf(step), 1)
  same(
    chosen.map(({ step }) => step),
    [...latest, ...repeats].slice(0, shown.length)
  )
}

/** Row 13: any of the buffer, or the most recent ones that nobody reflected on, each once. */
const assertVerificationSet = (
  algorithm: Algorithm,
  history: History,
  reflected: ReadonlyArray<string>,
  asked: ReadonlyArray<string>
): void => {
  const held = buffer(algorithm, history)
  const { questions } = algorithm.selection
  const { samples } = algorithm.verification
  if (samples === 0) return same(asked, [])
  if (questions !== "distinct") {
    same(asked.length, questionsToAsk(algorithm, history, reflected))
    if (questions === "subset") same(new Set(asked).size, asked.length)
    holds(
      asked.every((id) => held.some(({ question }) => question === id)),
      "the buffer holds the questions"
    )
    return
  }
  const fresh = unreflected(held, reflected)
  same(new Set(asked).size, asked.length)
  same(
    asked.map((id) => Math.max(...fresh.filter(({ question }) => question === id).map(({ step }) => step))),
    latestOfEach(fresh).slice(0, samples)
  )
}

const unreflected = (held: ReadonlyArray<Remembered>, reflected: ReadonlyArray<string>): ReadonlyArray<Remembered> => {
  const known = new Set(held.filter(({ trajectory }) => reflected.includes(trajectory)).map(({ question }) => question))
  return held.filter(({ question }) => !known.has(question))
}

/** How many questions D_B has. */
const questionsToAsk = (algorithm: Algorithm, history: History, reflected: ReadonlyArray<string>): number => {
  const { questions } = algorithm.selection
  const { samples } = algorithm.verification
  const held = buffer(algorithm, history)
  if (questions === "uniform") return samples
  return questions === "subset"
    ? Math.min(samples, new Set(held.map(({ question }) => question)).size)
    : Math.min(samples, new Set(unreflected(held, reflected).map(({ question }) => question)).size)
}

/** Lines 16-19: who is at least as good as the parent. */
const verdicts = (
  algorithm: Algorithm,
  history: History,
  proposal: Event<"CandidatesProposed">,
  round: Scores
): ReadonlyArray<Tried> => {
  const rerun = algorithm.selection.baseline === "rerun"
  same(round.parent !== null, rerun && algorithm.verification.samples > 0 && proposal.candidates.length > 0)
  return proposal.candidates.map(({ text }, index) => {
    const scores = comparedWith(
      algorithm,
      buffer(algorithm, history),
      proposal.parent,
      round,
      round.candidates[index] ?? []
    )
    const met = round.parent?.slice(0, scores.length) ?? []
    const baseline = met.length > 0 ? mean(met) : onRecord(buffer(algorithm, history), proposal.parent, round.questions)
    const own = scores.length === 0 ? 0 : mean(scores)
    const untried = algorithm.verification.samples === 0
    return {
      text,
      parent: proposal.parent,
      baseline,
      passed: untried || (scores.length > 0 && (baseline === null || own >= baseline)),
      score: untried || !rerun ? own : own - (baseline ?? 0),
      mean: own,
      questions: scores.length
    }
  })
}

/** Row 31: of `shared` the scores on the questions that the parent has on record, where it has any. */
const comparedWith = (
  { selection }: Algorithm,
  held: ReadonlyArray<Remembered>,
  parent: string,
  { questions }: Pick<Scores, "questions">,
  scores: ReadonlyArray<number>
): ReadonlyArray<number> => {
  if (selection.baseline !== "shared" || onRecord(held, parent, questions) === null) return scores
  return scores.filter((_, at) => onRecord(held, parent, questions.slice(at, at + 1)) !== null)
}

/** The mean that an instruction has in the buffer on these questions, each by its own mean and as often as it is named. */
const onRecord = (
  held: ReadonlyArray<Remembered>,
  instruction: string,
  questions: ReadonlyArray<string>
): number | null => {
  const means = questions.flatMap((question) => {
    const met = held.filter((one) => one.instruction === instruction && one.question === question)
    return met.length === 0 ? [] : [mean(met.map(({ reward }) => reward))]
  })
  return means.length === 0 ? null : mean(means)
}

/** The latest step of each question, latest first. */
const latestOfEach = (experiences: ReadonlyArray<Remembered>): ReadonlyArray<number> => {
  const latest = new Map<string, number>()
  for (const { question, step } of experiences) latest.set(question, Math.max(step, latest.get(question) ?? 0))
  return [...latest.values()].sort((a, b) => b - a)
}

type Event<Tag extends RunEvent["_tag"]> = Extract<RunEvent, { readonly _tag: Tag }>
