/**
 * Algorithm 1 of the paper as one straight program, with the readings of what it leaves open. It shares no code with the
 * loop it is compared with.
 */
import type { Command, RunConfig, RunEvent, RunState } from "@inspo/coevolution"
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
  standing,
  total
} from "./History.ts"

/** What was commanded, if anything was, and what came of it. */
export interface Happening {
  readonly command: Command | null
  readonly event: RunEvent
}

type Following = Generator<void, void, Happening>

/** Follows a run event by event; throws as soon as one is not what the algorithm allows. */
export function* run(config: RunConfig, questions: ReadonlyArray<RunState.QuestionRef>, history: History): Following {
  const { checkpoint, evaluation, population, schedule, train } = config
  yield* receive("RunStarted")
  const first = yield* receive("PopulationInitialised")
  history.born = first.event.instructions
  history.first = history.born.length
  history.alive = history.born.map(({ id }) => id)
  history.owed = history.alive
  yield* receive("CheckpointSaved")

  for (let t = 1; t <= schedule.steps; t++) {
    assertPlan(config, questions, history, (yield* receive("StepPlanned")).event)
    observe(history, t, (yield* receive("RolloutsCollected")).event.groups)
    if (t >= train.fromStep && t <= (train.untilStep ?? schedule.steps)) yield* receive("TrainingPlanned")
    yield* receive("StepTrained")
    history.step = t
    const looks = evaluation.every > 0 && (t % evaluation.every === 0 || t === schedule.steps)
    if (looks) yield* validate(config, history)

    // By the letter parents come from the population as it was before pruning.
    const before = ranking(config, history, standing(config, history))
    if (schedule.pruneEvery > 0 && t % schedule.pruneEvery === 0 && history.alive.length > population.parents)
      yield* prune(config, history)
    const after = ranking(config, history, standing(config, history))
    if (evolvesAt(config, t))
      yield* evolve(config, history, { before, after }[config.halving.ranking].slice(0, population.parents))
    if (looks || t === schedule.steps || t % checkpoint.every === 0) yield* receive("CheckpointSaved")
  }

  const best = bestOf(config, history)
  if (evaluation.questions > 0)
    for (const policy of ["after", "before"])
      for (const instruction of new Set([history.born[0]?.id, best])) {
        const { command, event } = yield* receive("Evaluated")
        same([event.policy, event.instruction], [policy, instruction])
        same(
          command?._tag === "Evaluate" ? command.checkpointStep : null,
          policy === "before" ? 0 : returnedStep(config, history)
        )
      }
  same((yield* receive("RunFinished")).event.best, best)
}

function* receive<Tag extends RunEvent["_tag"]>(
  tag: Tag
): Generator<void, { readonly command: Command | null; readonly event: RunEvent & { readonly _tag: Tag } }, Happening> {
  const { command, event } = yield
  if (Predicate.isTagged(event, tag)) return { command, event }
  throw new Error(`${event._tag} happened where Algorithm 1 has ${tag}`)
}

function* validate(config: RunConfig, history: History): Following {
  const { event } = yield* receive("Validated")
  same(event.instruction, bestOf(config, history))
  const rewards = event.groups.flatMap(({ rewards }) => rewards)
  if (rewards.length > 0) history.validated = [...history.validated, { step: history.step, mean: mean(rewards) }]
}

/** Row 22: the step whose policy is returned. */
const returnedStep = ({ evaluation }: RunConfig, history: History): number => {
  const { collapse, select } = evaluation
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
    else if (current < collapse * peak)
      return Math.max(0, ...history.validated.map(({ step }) => step).filter((step) => step <= peakStep))
  }
  return history.step
}

const observe = (history: History, step: number, groups: Event<"RolloutsCollected">["groups"]): void => {
  const keys = groups.map(({ instructionId, questionId }) => `${instructionId} ${questionId}`)
  holds(new Set(keys).size === keys.length, "group keys are unique within a step")
  history.observed = step
  history.owed = []
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
    ...groups.flatMap(({ instructionId, questionId, rewards, trajectories }) =>
      trajectories.map((trajectory, index) => ({
        trajectory,
        instruction: instructionId,
        question: questionId,
        step,
        reward: rewards[index] ?? NaN
      }))
    )
  ]
}

/** Lines 3-5: a batch of distinct questions, each under an instruction that Eq. 4 can draw. */
const assertPlan = (
  config: RunConfig,
  questions: ReadonlyArray<RunState.QuestionRef>,
  history: History,
  plan: Event<"StepPlanned">
): void => {
  same(plan.step, history.step + 1)
  const sourceOf = new Map<string, string>(questions.map(({ dataSource, id }) => [id, dataSource]))
  same(plan.questions.length, Math.min(config.train.batchSize, questions.length))
  same(new Set(plan.questions).size, plan.questions.length)
  holds(
    plan.questions.every((id) => sourceOf.has(id)),
    "the questions are training questions"
  )

  const shares = probabilities(config, history)
  same(Object.keys(plan.probabilities), [...shares.keys()])
  for (const [id, share] of shares) near(plan.probabilities[id], share)
  near(total(Object.values(plan.probabilities)), 1)

  same(plan.assignment.length, plan.questions.length)
  const guaranteed = { drawn: [], guaranteed: history.owed, everyone: history.alive }[config.sampler.newcomers]
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
  if (config.sampler.assignment === "stratified")
    for (const source of new Set(plan.questions.map((id) => sourceOf.get(id)))) {
      const held = plan.assignment.filter((_, index) => sourceOf.get(plan.questions[index] ?? "") === source)
      for (const [id, share] of shares) {
        const count = held.filter((other) => other === id).length
        const expected = share * held.length
        const [fewest, most] = [expected - 1 - served.length, expected + 1 + (served.includes(id) ? 1 : 0)]
        holds(count > fewest - 1e-9 && count < most + 1e-9, `${count} groups of ${source} where Eq. 4 says ${expected}`)
      }
    }
}

/**
 * Successive halving: the bottom half leaves, down to N_parent or the floor, less those whom the rule spares. The word of
 * `certain` on how sure it is has laws of its own.
 */
function* prune(config: RunConfig, history: History): Following {
  const { delta, floor, minimumGroups, rule } = config.halving
  const by = standing(config, history)
  const order = ranking(config, history, by)
  const { event } = yield* receive("Pruned")
  const sure = new Set<string>(event.pruned.filter(({ certainty = 0 }) => certainty >= 1 - delta).map(({ id }) => id))
  const leaves = {
    paper: () => true,
    robust: (id: string) => groupsSeen(history, id) >= minimumGroups,
    certain: (id: string) => sure.has(id)
  }[rule]
  const leaving: Array<string> = []
  const least = Math.max(floor, config.population.parents, Math.ceil(order.length / 2))
  for (const id of order.slice(least).toReversed()) if (leaves(id)) leaving.push(id)
  same(
    event.pruned.map(({ id }) => id),
    leaving
  )
  same(event.kept.toSorted(), order.filter((id) => !leaving.includes(id)).toSorted())
  for (const { id, weight } of event.pruned) near(weight, by.get(id))
  history.alive = history.alive.filter((id) => !leaving.includes(id))
}

interface Tried {
  readonly text: string
  readonly parent: string
  readonly passed: boolean
  readonly score: number
  readonly mean: number
}

/** Lines 12-23: rounds of proposing and verifying, until the population is full again or the rounds are used up. */
function* evolve(config: RunConfig, history: History, parents: ReadonlyArray<string>): Following {
  const places = config.population.size - parents.length
  const tried: Array<Tried> = []
  for (let round = 1; round <= config.verification.rounds; round++) {
    // Parents take turns; one that never fails gives its turn to the next.
    const turns = parents.map((_, later) => parents[(round - 1 + later) % parents.length] ?? "")
    const parent = turns.find((id) => failuresOf(config, history, id).length > 0)
    if (parent === undefined) {
      if (round > 1) break
      yield* receive("EvolutionSkipped")
      return
    }
    const { command, event: proposal } = yield* receive("CandidatesProposed")
    if (command?._tag === "Propose") assertKnowledge(history, tried, command)
    same([proposal.round, proposal.parent], [round, parent])
    assertFailures(config, history, parent, proposal.failures)
    if (proposal.candidates.length > 0) {
      const { command, event: trial } = yield* receive("CandidatesVerified")
      const asked = command?._tag === "Verify" ? command.questions : []
      assertVerificationSet(config, history, proposal.failures, asked)
      tried.push(...verdicts(config, history, proposal, trial))
    }
    if (tried.filter(({ passed }) => passed).length >= places) break
  }

  const { event } = yield* receive("PopulationRefilled")
  const byScore = tried.toSorted((a, b) => b.score - a.score)
  const entitled = [
    ...byScore.filter(({ passed }) => passed),
    ...byScore.filter(({ passed }) => !passed && config.verification.fill)
  ].slice(0, places)
  same(event.parents, parents)
  same(
    event.accepted.map(({ instruction, mean }) => [instruction.text, instruction.parent, mean]),
    entitled.map(({ mean, parent, text }) => [text, parent, mean])
  )
  same(event.shortfall, places - entitled.length)
  same(
    event.replaced.map(({ id }) => id),
    ranking(config, history, standing(config, history))
      .filter((id) => !parents.includes(id))
      .toReversed()
  )
  const newcomers = event.accepted.map(({ instruction }) => instruction)
  history.alive = [...history.alive.filter((id) => parents.includes(id)), ...newcomers.map(({ id }) => id)]
  history.born = [...history.born, ...newcomers]
  history.owed = newcomers.map(({ id }) => id)
  history.reset = history.step
  for (const { instruction, mean, questions } of event.accepted)
    if (questions > 0) history.verified.set(instruction.id, mean)
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

const evolvesAt = ({ population, schedule }: RunConfig, t: number): boolean =>
  schedule.evolveEvery > 0 &&
  t % schedule.evolveEvery === 0 &&
  t >= schedule.evolveFrom &&
  (schedule.evolveUntilInclusive ? t <= schedule.evolveUntil : t < schedule.evolveUntil) &&
  population.size > population.parents

const failuresOf = (config: RunConfig, history: History, parent: string): ReadonlyArray<Remembered> => {
  const held = buffer(config, history)
  const latest = Math.max(...held.map(({ step }) => step))
  return held.filter(
    (one) => one.reward < 0.5 && (config.buffer.failures === "any" ? one.step === latest : one.instruction === parent)
  )
}

/** Row 14: as many as asked for while there are; own ones latest first, and of as many questions as possible. */
const assertFailures = (config: RunConfig, history: History, parent: string, shown: ReadonlyArray<string>): void => {
  const eligible = failuresOf(config, history, parent)
  const chosen = shown.flatMap((id) => eligible.filter(({ trajectory }) => trajectory === id))
  same(new Set(shown).size, shown.length)
  same(chosen.length, shown.length)
  same(shown.length, Math.min(config.proposer.failures, eligible.length))
  if (config.buffer.failures === "any") return
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
  config: RunConfig,
  history: History,
  reflected: ReadonlyArray<string>,
  asked: ReadonlyArray<string>
): void => {
  const held = buffer(config, history)
  const { questions, samples } = config.verification
  if (samples === 0) return same(asked, [])
  if (questions === "uniform") {
    same(asked.length, samples)
    holds(
      asked.every((id) => held.some(({ question }) => question === id)),
      "the buffer holds the questions"
    )
    return
  }
  const known = new Set(held.filter(({ trajectory }) => reflected.includes(trajectory)).map(({ question }) => question))
  const fresh = held.filter(({ question }) => !known.has(question))
  same(new Set(asked).size, asked.length)
  same(
    asked.map((id) => Math.max(...fresh.filter(({ question }) => question === id).map(({ step }) => step))),
    latestOfEach(fresh).slice(0, samples)
  )
}

/** Lines 16-19: who is at least as good as the parent. */
const verdicts = (
  config: RunConfig,
  history: History,
  proposal: Event<"CandidatesProposed">,
  trial: Event<"CandidatesVerified">
): ReadonlyArray<Tried> => {
  const rerun = config.verification.baseline === "rerun"
  same(trial.parent !== null, rerun && config.verification.samples > 0)
  const baseline =
    trial.parent !== null && trial.parent.length > 0
      ? mean(trial.parent)
      : onRecord(buffer(config, history), proposal.parent, trial.questions)
  return proposal.candidates.map(({ text }, index) => {
    const scores = trial.candidates[index] ?? []
    const own = scores.length === 0 ? 0 : mean(scores)
    const untried = config.verification.samples === 0
    return {
      text,
      parent: proposal.parent,
      passed: untried || (scores.length > 0 && (baseline === null || own >= baseline)),
      score: untried || !rerun ? own : own - (baseline ?? 0),
      mean: own
    }
  })
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
