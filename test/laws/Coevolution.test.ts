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
import { Population } from "@inspo/population"
import { Sampler } from "@inspo/sampler"
import { Schema } from "effect"
import * as fc from "fast-check"
import * as AlgorithmOne from "./support/AlgorithmOne.ts"
import * as AnyConfig from "./support/AnyConfig.ts"
import { holds, near, same } from "./support/Check.ts"
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
      { numRuns: 800, seed: 22 }
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
  "VerificationContinued",
  "CandidatesJudged",
  "PopulationRefilled",
  "EvolutionSkipped",
  "Validated",
  "Evaluated",
  "RunFinished",
  "a stale value",
  "a shortfall",
  "a second round",
  "a second batch",
  "a candidate that left early",
  "a step with candidates in it",
  "a spared instruction",
  "a failed trajectory",
  "a policy of an earlier step",
  "a seed that stays for want of evidence",
  "evidence by lifetime",
  "evidence by verification"
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
  questions: ReadonlyArray<RunState.QuestionRef>
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
  assertAlike(model, real)
}

/** Everything that has to hold after every event. */
const assertAlike = ({ history }: Model, { algorithm, environment, context, state }: Real): void => {
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
    same(Population.lineage(state.instructions, instruction.id)[0]?.origin, "seed", `${instruction.id} has an origin`)

  const values = context.strategies.valuation.values(state.population)
  const expected = History.values(algorithm, history)
  for (const { id, value } of values) near(value, expected.get(id), `the value of ${id}`)
  for (const { instruction, stale, value } of members) {
    same(value === null, History.value(algorithm, history, instruction.id, history.observed) === null)
    same(stale, History.isStale(algorithm, history, instruction.id))
  }
  const shares = Sampler.probabilities(
    values.map(({ value }) => value),
    algorithm.sampler.temperature
  )
  const expectedShares = [...History.probabilities(algorithm, history).values()]
  for (const [index, share] of shares.entries()) near(share, expectedShares[index], `the probability of ${ids[index]}`)
  near(
    shares.reduce((sum, share) => sum + share, 0),
    shares.length === 0 ? 0 : 1
  )

  same<ReadonlyArray<string>>(
    state.buffer.experiences.map(({ trajectoryId }) => trajectoryId),
    History.buffer(algorithm, history).map(({ trajectory }) => trajectory)
  )
  same<ReadonlyArray<string>>(state.newcomers, history.newcomers)
  if (ids.length > 0)
    same<string>(Conclusion.conclude(context, state).instruction.id, History.returned(algorithm, history))
  same<Environment.Counted>({ spent: state.spent, failed: state.failed }, environment.counted)
}

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
        const event = real.environment.perform(command, luck)
        commit(model, real, event, command)
        see(event._tag)
        if (real.state.population.members.some(({ stale }) => stale)) see("a stale value")
        if (event._tag === "PopulationRefilled" && event.shortfall > 0) see("a shortfall")
        if (event._tag === "CandidatesProposed" && event.round > 1) see("a second round")
        if (event._tag === "StepPlanned" && real.state.evolution !== null) see("a step with candidates in it")
        if (event._tag === "CandidatesVerified" && event.batch > 0) {
          see("a second batch")
          if (command._tag === "Verify" && command.remaining.length < command.candidates.length)
            see("a candidate that left early")
        }
        if ("failed" in event) see("a failed trajectory")
        const { best, evidence, instruction } = Conclusion.conclude(real.context, real.state)
        if (instruction.id !== best.id) see("a seed that stays for want of evidence")
        if (evidence !== null) see(`evidence by ${evidence.kind}`)
        if (command._tag === "Evaluate" && command.policy === "after" && command.checkpointStep < real.state.step)
          see("a policy of an earlier step")
        if (event._tag === "Pruned") {
          const size = event.pruned.length + event.kept.length
          const least = real.algorithm.population.parents
          if (event.pruned.length < Math.min(Math.floor(size / 2), size - least)) see("a spared instruction")
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
  const luck = fc.record<Environment.Luck>({
    rewards: nonEmpty(fc.constantFrom(0, 0.25, 0.5, 1), 7),
    missing: nonEmpty(fc.constantFrom(0, 0, 0, 1, 9), 3),
    failing: nonEmpty(fc.oneof({ arbitrary: fc.constant(false), weight: 7 }, fc.constant(true)), 11)
  })
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
