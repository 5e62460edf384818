/** @module-tag deep */
import { assert, describe, it } from "@effect/vitest"
import {
  apply,
  type Command,
  Conclusion,
  fold,
  makeDecisionContext,
  next,
  type Algorithm,
  type RunEvent,
  RunEvents,
  RunState,
  type DecisionContext,
  Strategies
} from "@inspo/coevolution"
import { Comparison, Population } from "@inspo/population"
import { Schema } from "effect"
import * as fc from "fast-check"
import * as AlgorithmOne from "./support/AlgorithmOne.ts"
import * as AnyConfig from "./support/AnyConfig.ts"
import { holds, near, same } from "./support/Check.ts"
import * as Evidence from "./support/Evidence.ts"
import * as Environment from "./support/Environment.ts"
import * as History from "./support/History.ts"

describe("next and apply", () => {
  it("follow Algorithm 1 through any run, with failures and resumes", () => {
    const seen = new Map<string, number>()
    const see = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
    fc.assert(
      fc.property(
        AnyConfig.algorithm,
        AnyConfig.questions,
        fc.commands(commands(see), { maxCommands: 12 }),
        (algorithm, questions, program) => fc.modelRun(() => begin(algorithm, questions), program)
      ),
      { numRuns: 1200, seed: Number(process.env["INSPO_SEQUENCES_SEED"] ?? 22) }
    )
    for (const what of everything) assert.isAtLeast(seen.get(what) ?? 0, 20, what)
    // Some seconds, but many on a machine that is busy.
  }, 300_000)
})

/** What the runs have to be full of, so that the law speaks about it. */
const everything = [
  "StepPlanned",
  "Pruned",
  "CandidatesProposed",
  "VerificationBegun",
  "ParentsChosen",
  "CandidatesVerified",
  "CandidatesJudged",
  "PopulationRefilled",
  "EvolutionSkipped",
  "Validated",
  "Evaluated",
  "RunFinished",
  "a stale value",
  "a shortfall",
  "a search for the first reward",
  "a second round",
  "a question under several instructions",
  "samples shared by several instructions",
  "an instruction removed by evidence",
  "a member that stays beside newcomers",
  "fewer newcomers than the last time",
  "a parent of the last newcomers",
  "a failed trajectory",
  "a policy of an earlier step",
  "a seed that stays for want of evidence",
  "evidence for another instruction than the seed"
]

interface Model {
  readonly history: History.History
  readonly reference: ReturnType<typeof AlgorithmOne.run>
}

interface Real {
  readonly algorithm: Algorithm
  readonly context: DecisionContext
  readonly environment: Environment.Environment
  /** As the journal holds them: decoded from JSON. */
  readonly events: Array<RunEvent>
  state: RunState.RunState
}

const begin = (
  algorithm: Algorithm,
  questions: ReadonlyArray<Strategies.QuestionRef>
): { readonly model: Model; readonly real: Real } => {
  const history = History.nothing()
  const reference = AlgorithmOne.run(algorithm, questions, history)
  reference.next()
  const real: Real = {
    algorithm,
    context: { ...makeDecisionContext(Strategies.deciding(algorithm), { train: [] }), questions },
    environment: Environment.make(algorithm, questions),
    events: [],
    state: RunState.unstarted
  }
  const model = { history, reference }
  commit(model, real, {
    _tag: "RunStarted",
    algorithm,
    strategies: Strategies.identities(real.context.strategies),
    engine: "scripted",
    tokenizer: "scripted",
    data: "scripted",
    search: "passages",
    code: "test"
  })
  return { model, real }
}

const codec = Schema.fromJsonString(RunEvents.RunEvent)
const encode = Schema.encodeSync(codec)
const decode = Schema.decodeSync(codec)

const commit = (model: Model, real: Real, event: RunEvent, command: Command | null = null): void => {
  const decoded = decode(encode(event))
  same(decoded, event)
  real.events.push(decoded)
  real.state = apply(real.context, real.state, event)
  model.reference.next({ command, event })
  assertAlike(model, real, event._tag)
}

/** Everything that has to hold after every event. */
const assertAlike = (
  { history }: Model,
  { algorithm, environment, context, state }: Real,
  event: RunEvent["_tag"]
): void => {
  const { members } = state.population
  const ids: ReadonlyArray<string> = members.map(({ instruction }) => instruction.id)
  same(ids, history.alive)
  holds(ids.length <= algorithm.population.size, "at most N_P instructions")
  holds(ids.length >= Math.min(algorithm.population.parents, history.first), "at least N_parent instructions")
  same<ReadonlyArray<string>>(
    state.instructions.map(({ id }) => id),
    history.born.map(({ id }) => id)
  )
  holds(new Set(history.born.map(({ id }) => id)).size === history.born.length, "every instruction has its own id")
  for (const { instruction } of members)
    holds(
      ["seed", "variant"].includes(Population.lineage(state.instructions, instruction.id)[0]?.origin ?? ""),
      `${instruction.id} has an origin`
    )

  assertEvidence(history, state.population)
  const seed = history.born[0]?.id ?? ""
  const { incumbent } = history.evidence
  if (event === "RolloutsCollected" && history.alive.includes(seed))
    history.isProven = incumbent !== seed && Evidence.isBetter(history.evidence, history.alive, incumbent, seed)
  const values = context.strategies.valuation.values(state.population)
  const expected = History.expected(algorithm, history)
  const tolerance = algorithm.selection.average === "questions" ? 1e-5 : 1e-12
  for (const { id, value } of values)
    holds(Math.abs(value - (expected.get(id) ?? NaN)) < tolerance, `the value of ${id}`)
  history.valued = new Map(values.map(({ id, value }) => [id, value]))
  for (const { instruction, stale, value } of members) {
    same(value === null, History.value(algorithm, history, instruction.id, history.observed) === null)
    same(stale, History.isStale(algorithm, history, instruction.id))
  }
  const shares = context.strategies.sampler.probabilities(values)
  const expectedShares = [...History.probabilities(algorithm, history).values()]
  for (const [index, share] of shares.entries()) near(share, expectedShares[index], `the probability of ${ids[index]}`)

  same<ReadonlyArray<string>>(
    state.buffer.experiences.map(({ trajectoryId }) => trajectoryId),
    History.buffer(algorithm, history).map(({ trajectory }) => trajectory)
  )
  same<ReadonlyArray<string>>(state.newcomers, history.newcomers)
  if (ids.length > 0)
    same<string>(Conclusion.conclude(context, state).instruction.id, History.returned(algorithm, history))
  same<Environment.Counted>({ spent: state.spent, failed: state.failed }, environment.counted)
}

/** The evidence that the population holds, against the same computed from all rewards */
const assertEvidence = (history: History.History, { comparison, members }: Population.Contents): void => {
  const { evidence } = history
  const incumbent = members[comparison.incumbent]?.instruction.id ?? ""
  if (history.alive.length > 0 && !isAlike(history, comparison)) {
    Evidence.assertChances(evidence, history.alive, comparison.chances)
    holds(Evidence.incumbents(evidence, history.alive).includes(incumbent), `${incumbent} is the incumbent`)
    checked.set(history, comparison)
  }
  evidence.incumbent = incumbent
  evidence.chances = new Map(history.alive.map((id, place) => [id, comparison.chances[place] ?? NaN]))
  same(comparison.generation, evidence.entries.length)
  for (const [place, found] of Comparison.evidenceAgainst(comparison).entries()) {
    const expected = Evidence.evidenceAgainst(evidence, history.alive, history.alive[place] ?? "")
    holds(Math.abs(found - expected) <= 1e-9 * expected, `the evidence against ${history.alive[place]}`)
  }
}

/** Most events change no evidence. */
const checked = new WeakMap<History.History, Comparison.Comparison>()
const isAlike = (history: History.History, comparison: Comparison.Comparison) => checked.get(history) === comparison

const commands = (see: (what: string) => void): Array<fc.Arbitrary<fc.Command<Model, Real>>> => {
  const proceed = (count: number, luck: Environment.Luck): fc.Command<Model, Real> => ({
    check: () => true,
    run: (model, real) => {
      for (let done = 0; done < count; done++) {
        if (!RunState.isRunning(real.state)) return same(real.state.phase._tag, "Finished")
        const command = next(real.context, real.state)
        if (command._tag === "Evaluate")
          holds(
            real.state.checkpoints.some(({ step }) => step === command.checkpointStep),
            "the policy to evaluate is still saved"
          )
        const before = real.state.entrants
        const event = real.environment.perform(command, luck)
        commit(model, real, event, command)
        see(event._tag)
        if (real.state.population.members.some(({ stale }) => stale)) see("a stale value")
        if (event._tag === "PopulationRefilled" && event.shortfall > 0) see("a shortfall")
        if (event._tag === "CandidatesProposed" && event.round > 1) see("a second round")
        if (event._tag === "StepPlanned" && new Set(event.questions).size < event.questions.length)
          see(
            event.samples === undefined
              ? "a question under several instructions"
              : "samples shared by several instructions"
          )
        if ("failed" in event) see("a failed trajectory")
        const { best, evidence, instruction } = Conclusion.conclude(real.context, real.state)
        if (instruction.id !== best.id) see("a seed that stays for want of evidence")
        if (evidence !== null) see("evidence for another instruction than the seed")
        if (command._tag === "Evaluate" && command.policy === "after" && command.checkpointStep < real.state.step)
          see("a policy of an earlier step")
        if (event._tag === "Pruned" && event.pruned.some(({ reason }) => reason === "worse"))
          see("an instruction removed by evidence")
        if (event._tag === "ParentsChosen" && !AlgorithmOne.evolvesAt(real.algorithm, event.step))
          see("a search for the first reward")
        if (event._tag === "ParentsChosen" && before?.ids.some((id) => id === event.parents[0]) === true)
          see("a parent of the last newcomers")
        if (event._tag === "PopulationRefilled" && real.algorithm.selection.removal === "evidence") {
          const { entrants, population } = real.state
          if (population.members.length > event.accepted.length + event.parents.length)
            see("a member that stays beside newcomers")
          if (before !== null && (entrants?.places ?? 0) < before.places) see("fewer newcomers than the last time")
        }
      }
    },
    toString: () => `proceed(${count}, ${fc.stringify(luck)})`
  })
  const resume: fc.Command<Model, Real> = {
    check: () => true,
    run: (_, real) => {
      const state = fold(real.context, real.events)
      same(state, real.state)
      same(following(real.context, state), following(real.context, real.state))
      real.state = state
    },
    toString: () => "resume"
  }
  const fail: fc.Command<Model, Real> = {
    check: () => true,
    run: (_, real) => {
      // The engine refuses, so no event comes of the command: whoever tries again is asked for the same.
      const refused = following(real.context, real.state)
      same(following(real.context, fold(real.context, real.events)), refused)
      same(following(real.context, real.state), refused)
    },
    toString: () => "fail"
  }
  const luck = fc
    .record<Environment.Luck>({
      rewards: fc.oneof(
        { arbitrary: nonEmpty(fc.constantFrom(0, 0.25, 0.5, 1), 7), weight: 5 },
        fc.constant([0] as const)
      ),
      missing: nonEmpty(fc.constantFrom(0, 0, 0, 1, 9), 3),
      isTilted: fc.constantFrom(false, true, true),
      failing: nonEmpty(fc.oneof({ arbitrary: fc.constant(false), weight: 7 }, fc.constant(true)), 11)
    })
    .map((one) => (one.rewards.every((reward) => reward === 0) ? { ...one, isTilted: false } : one))
  return [
    fc
      .tuple(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(50, 100)), luck)
      .map(([count, luck]) => proceed(count, luck)),
    fc.constant(resume),
    fc.constant(fail)
  ]
}

/** The next command; null when the run is over. */
const following = (context: DecisionContext, state: RunState.RunState): Command | null =>
  RunState.isRunning(state) ? next(context, state) : null

const nonEmpty = <A>(values: fc.Arbitrary<A>, most: number) =>
  fc.tuple(values, fc.array(values, { maxLength: most })).map(([first, rest]) => [first, ...rest] as const)
