/**
 * Algorithm 1 of the paper as one straight program, with the readings of what it leaves open. It shares no code with the
 * loop it is compared with.
 */
import type { Command, Algorithm, RunEvent, RunState } from "@inspo/coevolution"
import { Predicate } from "effect"
import { holds, near, same } from "./Check.ts"
import {
  bestOf,
  buffer,
  groupsSeen,
  type History,
  mean,
  probabilities,
  ranking,
  type Remembered,
  returned,
  valued,
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
  questions: ReadonlyArray<RunState.QuestionRef>,
  history: History
): Following {
  const { evaluation, population, schedule } = algorithm
  yield* receive("RunStarted")
  const first = yield* receive("PopulationInitialised")
  history.born = first.event.instructions
  history.first = history.born.length
  history.alive = history.born.map(({ id }) => id)
  history.newcomers = history.alive
  yield* receive("CheckpointSaved")

  while (history.step < schedule.steps) {
    yield* takeStep(algorithm, questions, history, null)
    const t = history.step

    // By the letter parents come from the population as it was before pruning.
    const before = ranking(algorithm, history, valued(algorithm, history))
    if (schedule.pruneEvery > 0 && t % schedule.pruneEvery === 0 && history.alive.length > population.parents)
      yield* prune(algorithm, history)
    const after = ranking(algorithm, history, valued(algorithm, history))
    if (evolvesAt(algorithm, t))
      yield* evolve(
        algorithm,
        questions,
        history,
        { before, after }[algorithm.halving.ranking].slice(0, algorithm.population.parents)
      )
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

/** The part of a step that is given to candidates: who is asked, and on how many questions at most. */
interface Arms {
  readonly arms: ReadonlyArray<string>
  readonly reflected: ReadonlySet<string>
  readonly left: number
}

/** One step until the population is up for change: plan, act, learn, look. */
function* takeStep(
  algorithm: Algorithm,
  questions: ReadonlyArray<RunState.QuestionRef>,
  history: History,
  inlineVerification: Arms | null
): Generator<void, { readonly asked: ReadonlyArray<string>; readonly groups: Groups }, Happening> {
  const { schedule, train } = algorithm
  const plan = (yield* receive("StepPlanned")).event
  const asked = assertPlan(algorithm, questions, history, plan, inlineVerification)
  const { groups } = (yield* receive("RolloutsCollected")).event
  const t = history.step + 1
  observe(history, t, groups)
  if (train.fromStep !== null && t >= train.fromStep && t <= (schedule.policyFirst ?? schedule.steps))
    yield* receive("TrainingPlanned")
  yield* receive("StepTrained")
  history.step = t
  if (looksAt(algorithm, t)) yield* validate(algorithm, history)
  return { asked, groups }
}

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

/** Row 7: who met a prune before it was seen in four groups. */
const overdue = ({ halving, schedule }: Algorithm, history: History): ReadonlyArray<string> => {
  if (halving.rule !== "spare-unseen" || schedule.pruneEvery === 0) return []
  const lastPrune = Math.floor(history.step / schedule.pruneEvery) * schedule.pruneEvery
  return history.alive.filter((id) => (history.entered.get(id) ?? 0) < lastPrune && groupsSeen(history, id) < 4)
}

const observe = (history: History, step: number, groups: Event<"RolloutsCollected">["groups"]): void => {
  const keys = groups.map(({ instructionId, questionId }) => `${instructionId} ${questionId}`)
  holds(new Set(keys).size === keys.length, "group keys are unique within a step")
  history.observed = step
  history.newcomers = []
  history.present = history.alive
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

/**
 * Lines 3-5: a batch of distinct questions, each under an instruction that Eq. 4 can draw. Candidates and their
 * parent come first, question by question; gives the questions they meet on.
 */
const assertPlan = (
  algorithm: Algorithm,
  questions: ReadonlyArray<RunState.QuestionRef>,
  history: History,
  whole: Event<"StepPlanned">,
  inlineVerification: Arms | null
): ReadonlyArray<string> => {
  const batchSize = Math.min(algorithm.train.batchSize, questions.length)
  same(whole.questions.length, batchSize)
  same(whole.assignment.length, batchSize)
  const met: Array<string> = []
  const size = inlineVerification?.arms.length ?? 0
  const [parent, ...tried] = inlineVerification?.arms ?? []
  const most = inlineVerification === null ? 0 : Math.min(inlineVerification.left, Math.floor(batchSize / size))
  while (met.length < most) {
    const first = met.length * size
    // Whatever follows belongs to the population, which has no candidates.
    if (!tried.includes(whole.assignment[first + 1] ?? "")) break
    same<ReadonlyArray<unknown>>(whole.assignment.slice(first, first + size), [parent, ...tried])
    same(new Set(whole.questions.slice(first, first + size)).size, 1)
    met.push(whole.questions[first] ?? "")
  }
  holds(
    met.every((question) => inlineVerification?.reflected.has(question) === false),
    "nobody is asked a question that was reflected on"
  )
  const plan = {
    ...whole,
    questions: whole.questions.slice(met.length * size),
    assignment: whole.assignment.slice(met.length * size)
  }
  if (inlineVerification !== null && met.length < most)
    holds(
      plan.questions.every((question) => inlineVerification.reflected.has(question)),
      "fresh questions go to the candidates first"
    )
  same(plan.step, history.step + 1)
  const sourceOf = new Map<string, string>(questions.map(({ dataSource, id }) => [id, dataSource]))
  same(new Set([...met, ...plan.questions]).size, met.length + plan.questions.length)
  holds(
    plan.questions.every((id) => sourceOf.has(id)),
    "the questions are training questions"
  )

  const shares = probabilities(algorithm, history)
  same(Object.keys(plan.probabilities), [...shares.keys()])
  for (const [id, share] of shares) near(plan.probabilities[id], share)
  near(total(Object.values(plan.probabilities)), 1)

  same(plan.assignment.length, plan.questions.length)
  const guaranteed = {
    drawn: [],
    guaranteed: [...history.newcomers, ...overdue(algorithm, history)],
    everyone: history.alive
  }[algorithm.sampler.newcomers]
  const groupsOf = (id: string) => plan.assignment.filter((held) => held === id).length
  same(
    guaranteed.filter((id) => groupsOf(id) > 0).length,
    Math.min(guaranteed.length, plan.questions.length),
    "newcomers are served while there are questions"
  )
  // A guarantee serves only who came away empty: with one group that Eq. 4 did not give.
  const served = guaranteed.filter((id) => groupsOf(id) === 1)
  holds(
    plan.assignment.every((id) => (shares.get(id) ?? 0) > 0 || served.includes(id)),
    "Eq. 4 can draw every instruction that has a question"
  )
  if (algorithm.sampler.assignment === "stratified")
    for (const source of new Set(plan.questions.map((id) => sourceOf.get(id)))) {
      const held = plan.assignment.filter((_, index) => sourceOf.get(plan.questions[index] ?? "") === source)
      for (const [id, share] of shares) {
        const count = held.filter((other) => other === id).length
        const expected = share * held.length
        const [fewest, most] = [expected - 1 - served.length, expected + 1 + (served.includes(id) ? 1 : 0)]
        holds(count > fewest - 1e-9 && count < most + 1e-9, `${count} groups of ${source} where Eq. 4 says ${expected}`)
      }
    }
  return met
}

/**
 * Successive halving: the bottom half leaves, down to N_parent, less those whom the rule spares. The word of
 * `confident` on how sure it is has laws of its own.
 */
function* prune(algorithm: Algorithm, history: History): Following {
  const { rule } = algorithm.halving
  const by = valued(algorithm, history)
  const order = ranking(algorithm, history, by)
  const { event } = yield* receive("Pruned")
  const sure = new Set<string>(event.pruned.filter(({ certainty = 0 }) => certainty >= 0.95).map(({ id }) => id))
  const leaves = {
    "bottom-half": () => true,
    "fixed-half": () => true,
    "spare-unseen": (id: string) => groupsSeen(history, id) >= 4,
    confident: (id: string) => sure.has(id)
  }[rule]
  const leaving: Array<string> = []
  const quota = Math.floor((rule === "fixed-half" ? algorithm.population.size : order.length) / 2)
  const least = Math.max(algorithm.population.parents, order.length - quota)
  for (const id of order.slice(least).toReversed()) if (leaves(id)) leaving.push(id)
  same(
    event.pruned.map(({ id }) => id),
    leaving
  )
  same(event.kept.toSorted(), order.filter((id) => !leaving.includes(id)).toSorted())
  for (const { id, value } of event.pruned) near(value, by.get(id))
  history.left = [...history.left, ...event.pruned]
  history.alive = history.alive.filter((id) => !leaving.includes(id))
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
function* evolve(
  algorithm: Algorithm,
  questions: ReadonlyArray<RunState.QuestionRef>,
  history: History,
  parents: ReadonlyArray<string>
): Following {
  const reuses = algorithm.verification.reuse && algorithm.verification.samples > 0
  const places = algorithm.population.size - parents.length
  const tried: Array<Tried> = []
  for (let round = 1; round <= algorithm.verification.rounds; round++) {
    // Parents take turns; one that never fails gives its turn to the next.
    const turns = parents.map((_, later) => parents[(round - 1 + later) % parents.length] ?? "")
    if (round === 1) same((yield* receive("ParentsChosen")).event.parents, parents)
    const able = turns.filter((id) => failuresOf(algorithm, history, id).length > 0)
    if (able.length === 0) {
      if (round > 1) break
      yield* receive("EvolutionSkipped")
      return
    }
    const { command, event: proposal } = yield* receive("CandidatesProposed")
    if (command?._tag === "Propose") assertKnowledge(history, tried, command)
    // Row 30: any parent that failed may be drawn; in turn it is the first of them.
    const isRandom = algorithm.proposer.parent === "random"
    const parent = isRandom ? proposal.parent : (able[0] ?? "")
    holds(able.includes(parent), "the parent has failures")
    same([proposal.round, proposal.parent], [round, parent])
    assertFailures(algorithm, history, parent, proposal.failures)
    const { entering, places: verified } = (yield* receive("VerificationBegun")).event
    same([verified, entering], [[...proposal.candidates.keys()], []])
    const accepted = tried.filter(({ passed }) => passed).length
    const scores =
      proposal.candidates.length === 0 || algorithm.verification.samples === 0
        ? { questions: [], candidates: proposal.candidates.map(() => []), parent: null }
        : yield* reuses
            ? verifyInSteps(algorithm, questions, history, proposal, places - accepted)
            : verify(algorithm, history, proposal, places - accepted)
    const judged = verdicts(algorithm, history, proposal, scores)
    tried.push(...judged)
    const isFull = tried.filter(({ passed }) => passed).length >= places
    const isLast = round === algorithm.verification.rounds || (reuses && history.step >= algorithm.schedule.steps)
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
    ...byScore.filter(({ passed }) => !passed && algorithm.verification.fill)
  ].slice(0, places)
  same(event.parents, parents)
  same(
    event.accepted.map(({ instruction, mean }) => [instruction.text, instruction.parent, mean]),
    entitled.map(({ mean, parent, text }) => [text, parent, mean])
  )
  same(event.shortfall, places - entitled.length)
  same(
    event.replaced.map(({ id }) => id),
    ranking(algorithm, history, valued(algorithm, history))
      .filter((id) => !parents.includes(id))
      .toReversed()
  )
  history.left = [...history.left, ...event.replaced]
  const newcomers = event.accepted.map(({ instruction }) => instruction)
  history.alive = [...history.alive.filter((id) => parents.includes(id)), ...newcomers.map(({ id }) => id)]
  history.born = [...history.born, ...newcomers]
  history.newcomers = newcomers.map(({ id }) => id)
  for (const id of history.newcomers) history.entered.set(id, history.step)
  history.reset = history.step
  for (const [place, { instruction, mean, questions }] of event.accepted.entries()) {
    const { baseline = null, parent = "" } = entitled[place] ?? {}
    if (questions > 0) history.verified.set(instruction.id, mean)
    if (questions > 0 && baseline !== null)
      history.compared.set(instruction.id, { mean, rival: parent, rivalMean: baseline })
  }
}

/** What the arms of a round earned, question by question; fewer for those who left early. */
interface Scores {
  readonly questions: ReadonlyArray<string>
  readonly candidates: ReadonlyArray<ReadonlyArray<number>>
  readonly parent: ReadonlyArray<number> | null
  /** Who would have been asked more, had the run gone on or the last step had room. */
  readonly cutShort?: ReadonlyArray<number>
}

/** All questions at once, or some at a time for those whose fate is open. */
function* verify(
  algorithm: Algorithm,
  history: History,
  { candidates, failures }: Event<"CandidatesProposed">,
  places: number
): Generator<void, Scores, Happening> {
  const { lookEvery, stop } = algorithm.verification
  if (stop === null) {
    const { command, event } = yield* receive("CandidatesVerified")
    assertVerificationSet(algorithm, history, failures, command?._tag === "Verify" ? command.questions : [])
    same(event.batch, 0)
    return event
  }
  const asked: Array<string> = []
  const questions: Array<string> = []
  const scores: Array<Array<number>> = candidates.map(() => [])
  const parent: Array<number> = []
  let open = [...candidates.keys()]
  for (let batch = 0; open.length > 0; batch++) {
    if (batch > 0) same<ReadonlyArray<number>>((yield* receive("VerificationContinued")).event.remaining, open)
    const { command, event } = yield* receive("CandidatesVerified")
    const some = command?._tag === "Verify" ? command.questions : []
    same([event.batch, event.asked], [batch, some.length])
    asked.push(...some)
    questions.push(...event.questions)
    parent.push(...(event.parent ?? []))
    for (const [place, own] of event.candidates.entries()) {
      same(own.length, open.includes(place) ? event.questions.length : 0)
      scores[place]?.push(...own)
    }
    assertVerificationSet(algorithm, history, failures, asked, asked.length)
    const left = questionsToAsk(algorithm, history, failures) - asked.length
    if (left > 0) same(some.length, lookEvery)
    open = stillOpen(algorithm, open, scores, parent, left, places)
  }
  return { questions, candidates: scores, parent }
}

/** Some questions of each following step, for those whose fate is open, in whole groups. */
function* verifyInSteps(
  algorithm: Algorithm,
  training: ReadonlyArray<RunState.QuestionRef>,
  history: History,
  { candidates, failures, parent, round, step }: Event<"CandidatesProposed">,
  places: number
): Generator<void, Scores, Happening> {
  const held = buffer(algorithm, history)
  const reflected = new Set(
    held.filter(({ trajectory }) => failures.some((id) => id === trajectory)).map(({ question }) => question)
  )
  const ids = candidates.map((_, place) => `candidate-${step}.${round}.${place}`)
  const questions: Array<string> = []
  const scores: Array<Array<number>> = candidates.map(() => [])
  const parents: Array<number> = []
  let open = [...candidates.keys()]
  let isCut = false
  for (let batch = 0; open.length > 0 && !isCut; batch++) {
    if (batch > 0) same<ReadonlyArray<number>>((yield* receive("VerificationContinued")).event.remaining, open)
    yield* endStep(algorithm, history)
    const arms = [parent, ...open.map((place) => ids[place] ?? "")]
    const left = algorithm.verification.samples - questions.length
    const { asked, groups } = yield* takeStep(algorithm, training, history, { arms, reflected, left })
    const { event } = yield* receive("CandidatesVerified")
    same([event.batch, event.asked, event.rollouts, event.tokens], [batch, asked.length, 0, 0])
    const earned = (id: string, question: string) => {
      const group = groups.find(({ instructionId, questionId }) => instructionId === id && questionId === question)
      return group === undefined ? null : mean(group.rewards)
    }
    const complete = asked.filter((question) => arms.every((id) => earned(id, question) !== null))
    same<ReadonlyArray<string>>(event.questions, complete)
    for (const question of complete) {
      questions.push(question)
      parents.push(earned(parent, question) ?? NaN)
      for (const place of open) scores[place]?.push(earned(ids[place] ?? "", question) ?? NaN)
    }
    isCut = complete.length === 0 || history.step >= algorithm.schedule.steps
    open = stillOpen(algorithm, open, scores, parents, algorithm.verification.samples - questions.length, places)
  }
  return { questions, candidates: scores, parent: parents, cutShort: open }
}

/** Who may still go either way, with `left` questions to come. */
const stillOpen = (
  { verification }: Algorithm,
  open: ReadonlyArray<number>,
  scores: ReadonlyArray<ReadonlyArray<number>>,
  parent: ReadonlyArray<number>,
  left: number,
  places: number
): Array<number> => {
  if (left <= 0) return []
  const { stop } = verification
  if (stop === null) return [...open]
  const total = parent.length + left
  return open.filter((place) => {
    const own = scores[place] ?? []
    if (fate(own, parent, total, stop) !== "open") return false
    const ahead = scores.filter(
      (rival) => fate(rival, parent, total, stop) === "won" && fate(rival, own, total, stop) === "won"
    )
    return ahead.length < places
  })
}

/** Whether one will have at least as much as the other once `total` questions are answered, as far as can be told. */
const fate = (
  own: ReadonlyArray<number>,
  other: ReadonlyArray<number>,
  total: number,
  risk: number
): "won" | "lost" | "open" => {
  let lead = 0
  let squares = 0
  let met = 0
  while (met < Math.min(own.length, other.length)) {
    const difference = (own[met] ?? NaN) - (other[met] ?? NaN)
    lead += difference
    squares += difference ** 2
    met += 1
  }
  if (lead >= total - met) return "won"
  if (-lead > total - met) return "lost"
  const enough = (-Math.log(risk) / 2) * total * ((squares + 1) / (met + 1))
  if (lead >= 0) return lead ** 2 >= enough ? "won" : "open"
  return lead ** 2 >= enough ? "lost" : "open"
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

const evolvesAt = ({ population, schedule, verification }: Algorithm, t: number): boolean =>
  !(verification.reuse && verification.samples > 0 && t === schedule.steps) &&
  schedule.evolveEvery > 0 &&
  t % schedule.evolveEvery === 0 &&
  t >= (schedule.policyFirst ?? 0) &&
  (schedule.evolveUntil === null || t <= schedule.evolveUntil) &&
  population.size > population.parents

const failuresOf = (algorithm: Algorithm, history: History, parent: string): ReadonlyArray<Remembered> => {
  const held = buffer(algorithm, history)
  const latest = Math.max(...held.map(({ step }) => step))
  return held.filter(
    (one) =>
      one.reward < 0.5 && (algorithm.buffer.failures === "any" ? one.step === latest : one.instruction === parent)
  )
}

/** Row 14: as many as asked for while there are; own ones latest first, and of as many questions as possible. */
const assertFailures = (algorithm: Algorithm, history: History, parent: string, shown: ReadonlyArray<string>): void => {
  const eligible = failuresOf(algorithm, history, parent)
  const chosen = shown.flatMap((id) => eligible.filter(({ trajectory }) => trajectory === id))
  same(new Set(shown).size, shown.length)
  same(chosen.length, shown.length)
  same(shown.length, Math.min(4, eligible.length))
  if (algorithm.buffer.failures === "any") return
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
  asked: ReadonlyArray<string>,
  samples = algorithm.verification.samples
): void => {
  const held = buffer(algorithm, history)
  const { questions } = algorithm.verification
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
  const { questions, samples } = algorithm.verification
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
  const rerun = algorithm.verification.baseline === "rerun"
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
      passed:
        untried ||
        (scores.length > 0 && (baseline === null || own >= baseline) && round.cutShort?.includes(index) !== true),
      score: untried || !rerun ? own : own - (baseline ?? 0),
      mean: own,
      questions: scores.length
    }
  })
}

/** Row 31: of `shared` the scores on the questions that the parent has on record, where it has any. */
const comparedWith = (
  { verification }: Algorithm,
  held: ReadonlyArray<Remembered>,
  parent: string,
  { questions }: Pick<Scores, "questions">,
  scores: ReadonlyArray<number>
): ReadonlyArray<number> => {
  if (verification.baseline !== "shared" || onRecord(held, parent, questions) === null) return scores
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

type Groups = Event<"RolloutsCollected">["groups"]
type Event<Tag extends RunEvent["_tag"]> = Extract<RunEvent, { readonly _tag: Tag }>
